/** Builders of graphs for tests, in the form of a request. */

export type Given = Record<string, unknown>;

export const trigger = (eventName = "signed-up", id = "start"): Given => ({
  id,
  type: "TRIGGER",
  config: { eventName },
});

export const step = (id: string, type: string, config: Given = {}): Given => ({ id, type, config });

export const delay = (id: string, amount: unknown = 2, unit: unknown = "days"): Given =>
  step(id, "DELAY", { amount, unit });

/** Parses a transition: `start>a`, or `a>b:yes` at a branch. */
export function transition(text: string): Given {
  const [from, rest = ""] = text.split(">");
  const [to, branch] = rest.split(":");
  return { from, to, ...(branch === undefined ? {} : { branch }) };
}

export const graph = (steps: readonly Given[], ways: readonly string[] = []) => ({
  steps,
  transitions: ways.map(transition),
});

/** A TRIGGER followed by these steps in order. */
export const chain = (...steps: readonly Given[]) =>
  graph(
    [trigger(), ...steps],
    steps.map(({ id }, i) => `${i === 0 ? "start" : String(steps[i - 1]?.["id"])}>${String(id)}`),
  );
