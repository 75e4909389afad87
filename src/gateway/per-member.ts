/** State of a room per specialist, stored only for those that have some: nearly all are idle at any moment. */
import type { Member } from "./member.ts";

export interface PerMember<Collection> {
  /** Undefined if there is no state. */
  find(member: Member): Collection | undefined;
  /** The collection to add to. */
  of(member: Member): Collection;
  /** Call it after a removal: an empty collection is dropped. */
  tidy(member: Member): void;
  forget(member: Member): void;
}

export function perMember<Collection extends { readonly size: number }>(begin: () => Collection): PerMember<Collection> {
  const collections = new Map<Member, Collection>();
  return {
    find: (member) => collections.get(member),
    of(member) {
      const known = collections.get(member);
      if (known !== undefined) return known;
      const begun = begin();
      collections.set(member, begun);
      return begun;
    },
    tidy(member) {
      if (collections.get(member)?.size === 0) collections.delete(member);
    },
    forget: (member) => void collections.delete(member),
  };
}
