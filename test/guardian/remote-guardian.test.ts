/** The Guardian over a channel of JSON: what is asked arrives, and errors keep their class, code and advice. */
import { expect, test } from "vitest";
import { Misconfigured, Refused } from "../../src/core/errors.ts";
import { isObject, parseJson, type JsonObject } from "../../src/core/json.ts";
import type { Guardian } from "../../src/guardian/guardian.ts";
import { describeError, errorFrom, isRequestName, performRequest, remoteGuardian } from "../../src/guardian/remote-guardian.ts";
import { desk } from "../harness/guardian-over-store.ts";

/** A Guardian at the other end of a wire that carries text. */
function overWire(guardian: Guardian): Guardian {
  return remoteGuardian(async (name, query) => {
    const sent = parseJson(JSON.stringify(query));
    const answered = await performRequest(guardian, name, isObject(sent) ? sent : {}).then(
      (result) => ({ result }),
      (error: unknown) => ({ error: describeError(error) }),
    );
    const answer = parseJson(JSON.stringify(answered)) as JsonObject;
    if (isObject(answer["error"])) throw errorFrom(answer["error"]);
    return answer["result"];
  });
}

test("a question and an order arrive, and their answers come back", async () => {
  const { guardian, on, parked } = desk();
  await parked("e1", "a note");
  const remote = overWire(guardian);
  expect((await on(remote.why({ id: "e1" }))).state).toBe("parked");
  expect((await on(remote.retry({ id: "e1" }))).message).toBe("post.created of scout is handled again");
});

test("an error is the same at the other end, and a defect is no promise of ours", async () => {
  const { guardian, on } = desk();
  const remote = overWire(guardian);
  const failed = await on(remote.why({ id: "nothing" }).catch((error: unknown) => error));
  expect(failed).toBeInstanceOf(Refused);
  expect(failed).toMatchObject({ code: "nothing_found", message: 'there is nothing called "nothing"' });
  const described = describeError(
    new Misconfigured("specialist_unknown", "there is no specialist", { expected: "one of a", cause: new Error("x") }),
  );
  expect(described).toEqual({
    class: "Misconfigured",
    code: "specialist_unknown",
    message: "there is no specialist",
    expected: "one of a",
  });
  expect(describeError(new Error("odd"))).toMatchObject({ class: "Fatal", code: "unexpected" });
  expect(isRequestName("toString")).toBe(false);
});
