/** The plan of a specialist beside its present use. */
import type { PlanRow, SpecialistShown } from "./answers.ts";
import { Foreign } from "./foreign.tsx";
import { showNumber, showSpan } from "./format.ts";
import { Meter } from "./parts.tsx";

interface Props {
  readonly plan: PlanRow | undefined;
  readonly quota: SpecialistShown["quota"];
}

export function PlanTable({ plan, quota }: Props) {
  if (plan === undefined) return <p class="muted">It does not run in the process of this console, so there is no plan here.</p>;
  const planned = Math.round(plan.perDay);
  return (
    <>
      <Meter label="planned requests a day" used={planned} limit={plan.limits.perDay} />
      {quota !== undefined && <Meter label="requests in the last day" used={quota.day.used} limit={quota.day.limit} />}
      {plan.sources.map(({ name, everyMs, discoveryMs }) => (
        <p key={name}>
          Reads <Foreign text={name} /> every {showSpan(everyMs)}; news is seen after {showSpan(discoveryMs.mean)}, at worst{" "}
          {showSpan(discoveryMs.worst)}.
        </p>
      ))}
      <div class="scroll" tabIndex={0} role="region" aria-label="Requests by purpose">
        <table>
          <thead>
            <tr>
              <th scope="col">Purpose</th>
              <th scope="col" class="number">
                Planned a day
              </th>
              <th scope="col" class="number">
                Guaranteed a day
              </th>
              <th scope="col" class="number">
                Guaranteed an hour
              </th>
            </tr>
          </thead>
          <tbody>
            {plan.lanes.map(({ lane, perDay, floorPerDay, floorPerHour }) => (
              <tr key={lane}>
                <th scope="row">{lane}</th>
                <td class="number">{showNumber(perDay)}</td>
                <td class="number">{showNumber(floorPerDay)}</td>
                <td class="number">{showNumber(floorPerHour)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {plan.warnings.map((warning) => (
        <p key={warning} class="warn-text">
          It {warning}
        </p>
      ))}
    </>
  );
}
