/** An event with the texts of others in it. */
import type { EventShown } from "../../guardian/explanation.ts";
import { Code, Foreign, ForeignBlock } from "./foreign.tsx";
import { Ago } from "./parts.tsx";

export function EventText({ event: { kind, at, author, object, title, text } }: { readonly event: EventShown }) {
  return (
    <div class="event">
      <p>
        <Code text={kind} />
        {author !== undefined && (
          <>
            {" by "}
            <Foreign text={author} />
          </>
        )}
        {object !== undefined && (
          <>
            {", object "}
            <Foreign text={object} />
          </>
        )}
        {", "}
        <Ago at={at} />
      </p>
      {title !== undefined && (
        <p class="event-title">
          <Foreign text={title} />
        </p>
      )}
      {text !== undefined && <ForeignBlock text={text} />}
    </div>
  );
}
