/** Leaves out what is `undefined`: under `exactOptionalPropertyTypes` an optional field is given or absent. */

type Defined<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
};

/** A copy without the fields whose value is `undefined`. */
export function defined<const Fields extends object>(fields: Fields): Defined<Fields>;
export function defined(fields: { readonly [name: string]: unknown }): object {
  const given: { [name: string]: unknown } = {};
  for (const name in fields) if (fields[name] !== undefined && name !== "__proto__") given[name] = fields[name];
  return given;
}
