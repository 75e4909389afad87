/** The standing of a specialist: what its tier and the network's trust in it permit, beside what the others would. */
import type { ComponentChildren } from "preact";
import type { Standing } from "./answers.ts";
import { Foreign } from "./foreign.tsx";
import { showAgo, showNumber, words } from "./format.ts";
import { Ago, Badge, Empty, useNow } from "./parts.tsx";

export function StandingTables({ standing }: { readonly standing: Standing | undefined }) {
  if (standing === undefined) return <Empty title="It does not run in the process of this console, so its standing is not known here." />;
  const { tiers, trust } = standing;
  return (
    <>
      <section class="panel">
        <h2>Tier</h2>
        <Table label="Tiers" columns={["An hour", "A day"]}>
          {tiers.map(({ name, isPresent, perHour, perDay, lacks, unlocks }) => (
            <tr key={name}>
              <Name name={name} isPresent={isPresent} />
              <td class="number">{limit(perHour)}</td>
              <td class="number">{limit(perDay)}</td>
              <Operations names={lacks} />
              <Operations names={unlocks} />
            </tr>
          ))}
        </Table>
      </section>
      <section class="panel">
        <h2>Reputation and trust</h2>
        {trust === undefined ? (
          <p class="muted">Not shown by this network: its profile has no trust tiers, so reputation is not read.</p>
        ) : (
          <>
            <Reported reported={trust.reported} />
            <Table label="Trust tiers" columns={["From reputation"]}>
              {trust.tiers.map(({ name, isPresent, reputation, lacks, unlocks }) => (
                <tr key={name}>
                  <Name name={name} isPresent={isPresent} />
                  <td class="number">{reputation === undefined ? "not stated" : showNumber(reputation)}</td>
                  <Operations names={lacks} />
                  <Operations names={unlocks} />
                </tr>
              ))}
            </Table>
          </>
        )}
      </section>
    </>
  );
}

const limit = (requests: number | undefined): string => (requests === undefined ? "no limit" : showNumber(requests));

function Reported({ reported }: { readonly reported: NonNullable<Standing["trust"]>["reported"] }) {
  const now = useNow();
  if (reported === undefined) return <p class="muted">The network has not reported it yet.</p>;
  const { trust, reputation, since, lookAt } = reported;
  return (
    <dl class="payload">
      <div>
        <dt>reputation</dt>
        <dd>{reputation === undefined ? "not shown by this network" : showNumber(reputation)}</dd>
      </div>
      <div>
        <dt>trust</dt>
        <dd>
          {trust === undefined ? "none of the tiers below" : <Foreign text={words(trust)} />}, first seen <Ago at={since} />
        </dd>
      </div>
      <div>
        <dt>next read</dt>
        <dd>{lookAt <= now ? "due now" : showAgo(lookAt, now)}</dd>
      </div>
    </dl>
  );
}

interface TableProps {
  readonly label: string;
  /** Columns of figures, after the name. */
  readonly columns: readonly string[];
  readonly children: ComponentChildren;
}

function Table({ label, columns, children }: TableProps) {
  return (
    <div class="scroll wide" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            {columns.map((column) => (
              <th key={column} scope="col" class="number">
                {column}
              </th>
            ))}
            <th scope="col">Does not permit</th>
            <th scope="col">Would unlock</th>
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function Name({ name, isPresent }: { readonly name: string; readonly isPresent: boolean }) {
  return (
    <th scope="row">
      <Foreign text={words(name)} /> {isPresent && <Badge tone="accent">now</Badge>}
    </th>
  );
}

function Operations({ names }: { readonly names: readonly string[] }) {
  return <td>{names.length === 0 ? <span class="muted">—</span> : <Foreign text={names.join(", ")} />}</td>;
}
