/** Stops that no store has yet: given while one is being opened, in their order, those of other stores too, also while they are carried out. */
import { expect, test } from "vitest";
import { OrdersMeanwhile, type StopOrder } from "../../src/runtime/orders-meanwhile.ts";
import { fleetProcess } from "../harness/fleet-process.ts";
import type { Store } from "../../src/store/store.ts";

const halt = (scope: string): StopOrder => ({ kind: "halt", scope, stop: { reason: `of ${scope}`, at: 1 } });
const seen = { processes: [1, 2].map((number) => fleetProcess(number)), free: [7] };
const told = (query: object): string => `to web:2: ${JSON.stringify({ do: "halt", with: query, by: "web:1, which held it" })}`;
const server = (kept: string[] = []): Parameters<OrdersMeanwhile["begin"]>[0] => ({
  number: 1,
  keepStop: async (kind, scope) => void kept.push(`${kind} ${scope}`),
  keepOrder: async (shard, { who, what }, { result }) => void kept.push(`shard ${shard}: ${what} by ${who}, ${result}`),
  tell: async (receivers, body) => void kept.push(`to ${receivers.map(({ name }) => name).join(", ")}: ${body}`),
});

/** A store that tells what it was ordered. */
function noted(during: () => void = () => undefined) {
  const given: string[] = [];
  const store: Pick<Store, "stop" | "lift"> = {
    stop: async (kind, scope, reason, at) => {
      given.push(`${kind} ${scope}: ${reason} at ${at}`);
      during();
    },
    lift: async (kind, scope) => {
      given.push(`no ${kind} ${scope}`);
      return true;
    },
  };
  return { store, given };
}

test("orders are carried out in their order, also those of specialists of other stores, whose stops it has read", async () => {
  const orders = new OrdersMeanwhile();
  await orders.begin(server(), seen);
  for (const order of [halt("*"), halt("scout"), halt("elsewhere"), { kind: "halt", scope: "*" } as const]) orders.note(order);
  const { store, given } = noted();
  await orders.applyTo(store);
  expect(given).toEqual(["halt *: of * at 1", "halt scout: of scout at 1", "halt elsewhere: of elsewhere at 1", "no halt *"]);
});

test("an order that comes while others are carried out is carried out too, and one that comes later is the store's own", async () => {
  const orders = new OrdersMeanwhile();
  await orders.begin(server(), seen);
  orders.note(halt("a"));
  let times = 0;
  const { store, given } = noted(() => times++ === 0 && orders.note(halt("b")));
  await orders.applyTo(store);
  orders.note(halt("c"));
  await orders.applyTo(store);
  expect(given).toEqual(["halt a: of a at 1", "halt b: of b at 1"]);
});

test("no order is kept while nothing is being opened, nor for the next opening after one that failed", async () => {
  const orders = new OrdersMeanwhile();
  orders.note(halt("early"));
  await orders.begin(server(), seen);
  orders.note(halt("failed"));
  orders.end();
  await orders.begin(server(), seen);
  const { store, given } = noted();
  await orders.applyTo(store);
  expect(given).toEqual([]);
});

test("a halt that the server could not keep is stored before anything is opened, once, unless it was lifted", async () => {
  const orders = new OrdersMeanwhile();
  const stop = (scope: string, reason: string) => ({ scope, reason, since: 1 });
  orders.hold(stop("*", "first"), stop("scout", "x"));
  orders.hold(stop("*", "second"));
  orders.release("scout");
  expect(orders.unkept).toEqual([stop("*", "second")]);
  const kept: string[] = [];
  await orders.begin(server(kept), seen);
  await orders.begin(server(kept), seen);
  expect([kept, orders.unkept]).toEqual([["halt *", told({ reason: "second" })], []]);
});

test("at the end halts of stores are stored too, and those that cannot be stay for whoever ends the process", async () => {
  const orders = new OrdersMeanwhile();
  const stop = (scope: string) => ({ scope, reason: "x", since: 1 });
  const holding = { runtime: { parts: { unkeptHalts: { all: () => [stop("scout")] } } } };
  orders.hold(stop("*"));
  await orders.storeAtEnd(undefined, seen, [holding]);
  await orders.storeAtEnd({ ...server(), keepStop: () => Promise.reject(new Error("the server is away")) }, seen, [holding]);
  expect(orders.unkept).toEqual([stop("*"), stop("scout")]);
  const kept: string[] = [];
  await orders.storeAtEnd(server(kept), seen);
  expect([kept, orders.unkept]).toEqual([["halt *", told({ reason: "x" }), "halt scout", told({ handle: "scout", reason: "x" })], []]);
});

test("an order without a row has one once the server takes it, in a free shard, once, and the latest hundred are remembered", async () => {
  const orders = new OrdersMeanwhile();
  for (let i = 0; i < 102; i++) orders.list({ who: `p${i}`, from: "command", at: i, what: "halt" }, { result: "everyone is halted" });
  const kept: string[] = [];
  await orders.store({ ...server(kept), keepOrder: () => Promise.reject(new Error("the server is away")) }, seen);
  expect(kept).toEqual([]);
  await orders.store(server(kept), seen);
  expect([kept.length, kept[0]]).toEqual([100, "shard 7: halt by p2, everyone is halted"]);
  await orders.store(server(kept), seen);
  expect(kept).toHaveLength(100);
});
