/** The hostile forms of request bodies, each as large as its route allows. */

import { type Static, Type } from "@sinclair/typebox";
import { validBody } from "./valid.ts";

/** The ways to send a body: with its length, in chunks, byte by byte, or only the first half. */
export const MODES = ["announced", "chunked", "slow", "aborted"] as const;
export type Mode = (typeof MODES)[number];

export const Shape = Type.Object({
  route: Type.String(),
  maxBytes: Type.Number(),
  maxValues: Type.Number(),
  members: Type.Array(Type.String()),
});
export type Shape = Static<typeof Shape>;

type Form = { mode: Mode; body: (shape: Shape) => string };

/** The forms by name. */
export const FORMS: Readonly<Record<string, Form>> = {
  objects: { mode: "announced", body: ({ maxBytes }) => list("{}", (maxBytes - 8) / 3) },
  "objects in chunks": { mode: "chunked", body: ({ maxBytes }) => list("{}", (maxBytes - 8) / 3) },
  "objects in a member": {
    mode: "announced",
    body: (shape) => member(shape, list("[0]", shape.maxValues / 2 - 20), shape.maxBytes),
  },
  levels: { mode: "announced", body: ({ maxBytes }) => '{"data":'.repeat((maxBytes - 2) / 8) },
  text: { mode: "announced", body: (shape) => texts(shape, "x", 1) },
  "text beyond Latin": { mode: "announced", body: (shape) => texts(shape, "xxxxxxx\u{6f22}", 10) },
  escapes: { mode: "announced", body: (shape) => texts(shape, "\\u0041", 6) },
  quotes: { mode: "announced", body: (shape) => texts(shape, '\\"', 2) },
  keys: { mode: "announced", body: (shape) => member(shape, keys(shape), shape.maxBytes) },
  digits: { mode: "announced", body: ({ maxBytes }) => `{"a":${"9".repeat(maxBytes - 6)}}` },
  blanks: { mode: "chunked", body: ({ maxBytes }) => `{"a":1${" ".repeat(maxBytes - 7)}}` },
  valid: { mode: "announced", body: validBody },
  slow: { mode: "slow", body: ({ maxBytes }) => list("{}", (maxBytes - 8) / 3) },
  aborted: { mode: "aborted", body: (shape) => texts(shape, "x", 1) },
};

/** An array of at least one item. */
function list(item: string, count: number): string {
  const whole = Math.max(1, Math.floor(count));
  return `[${`${item},`.repeat(whole - 1)}${item}]`;
}

/** A document with `value` in a field that takes any value, padded with blanks. */
function member({ members }: Shape, value: string, maxBytes: number): string {
  const free = ["data", "context", "condition", "config", "filter", "steps"];
  const name = free.find((known) => members.includes(known)) ?? members[0] ?? "data";
  const text = `{"${name}":${name === "data" || name === "context" ? `{"a":${value}}` : value}}`;
  return text.padEnd(maxBytes, " ").slice(0, maxBytes);
}

/** A document whose fields are strings of the same size. */
function texts({ members, maxBytes }: Shape, unit: string, unitBytes: number): string {
  const names = members.length === 0 ? ["data"] : members;
  const frame = names.reduce((sum, name) => sum + name.length + 6, 2);
  const count = Math.floor((maxBytes - frame) / names.length / unitBytes);
  return `{${names.map((name) => `"${name}":"${unit.repeat(Math.max(0, count))}"`).join()}}`;
}

function keys({ maxBytes, maxValues }: Shape): string {
  const count = Math.min(maxValues - 20, Math.floor(maxBytes / 16));
  const width = Math.max(1, Math.floor(maxBytes / count) - 16);
  const names = Array.from({ length: count }, (_, i) => `"${"k".repeat(width)}${i}":1`);
  return `{${names.join()}}`.slice(0, maxBytes - 16);
}
