/** What a room remembers of specialists, for those alone of whom there is something: nearly all are idle at any moment. */
import type { Member } from "./member.ts";

export interface PerMember<Collection> {
  /** Undefined where nothing is remembered. */
  find(member: Member): Collection | undefined;
  /** To be added to. */
  of(member: Member): Collection;
  /** To be called after something was taken out: an empty collection is forgotten. */
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
