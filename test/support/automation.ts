/** An application that runs workflows, and what a test does with them. */

import { at, listAt, textAt } from "./json.ts";
import { testApp, type TestOptions } from "./app.ts";

export type Automation = Awaited<ReturnType<typeof startAutomation>>;

export type Given = Record<string, unknown>;

export type Walked = {
  id: string;
  status: string;
  contactId: string | null;
  currentStepId: string | null;
  context: unknown;
  exitReason: string | null;
  error: string | null;
  /** `stepId outcome[:branch]`, in their order. */
  steps: string[];
  /** What was kept with the completed steps. */
  details: unknown[];
};

export async function startAutomation(options: TestOptions = {}) {
  const t = await testApp({
    ...options,
    config: { allowPrivateAddresses: true, ...options.config },
  });
  await t.deliver();
  const settle = () => t.app.automation.idle();

  /** Of one kind of answer, what a test looks at. */
  async function execution(workflowId: string, id: string): Promise<Walked> {
    const { body } = await t.call("GET", `/workflows/${workflowId}/executions/${id}`);
    const data = at(body, "data");
    const steps = listAt(data, "steps");
    const nullable = (name: string) => (at(data, name) === null ? null : textAt(data, name));
    return {
      id,
      status: textAt(data, "status"),
      contactId: nullable("contactId"),
      currentStepId: nullable("currentStepId"),
      context: at(data, "context"),
      exitReason: nullable("exitReason"),
      error: nullable("error"),
      steps: steps.map((step) => {
        const branch = at(step, "branch");
        const name = `${textAt(step, "stepId")} ${textAt(step, "outcome")}`;
        return branch === null ? name : `${name}:${textAt(step, "branch")}`;
      }),
      details: steps.map((step) => at(step, "detail")),
    };
  }

  return {
    t,
    settle,
    execution,

    /** An enabled workflow. */
    workflow: (graph: Given, rest: Given = {}): Promise<string> =>
      t.create("/workflows", { name: "Flow", enabled: true, ...graph, ...rest }, "data.id"),

    template: (rest: Given = {}): Promise<string> =>
      t.create(
        "/templates",
        {
          name: "Hello",
          type: "MARKETING",
          subject: "Hello",
          body: "<p>Hello</p>",
          from: "news@acme.test",
          ...rest,
        },
        "data.id",
      ),

    /** Records an event and lets everything happen that it leads to now. */
    async track(event: string, data?: Given, email = "ada@example.net"): Promise<void> {
      const body = { event, email, ...(data === undefined ? {} : { data }) };
      const answer = await t.call("POST", "/v1/track", body);
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
      await settle();
    },

    /** Time goes by. */
    async advance(ms: number): Promise<void> {
      t.clock.advance(ms);
      await settle();
    },

    /** All of a workflow, oldest first. */
    async executions(workflowId: string): Promise<Walked[]> {
      const { body } = await t.call("GET", `/workflows/${workflowId}/executions?limit=100`);
      const ids = listAt(body, "data.items").map((item) => textAt(item, "id"));
      return Promise.all(ids.toReversed().map((id) => execution(workflowId, id)));
    },

    /** The only one of a workflow. */
    async only(workflowId: string): Promise<Walked> {
      const all = await this.executions(workflowId);
      const [first] = all;
      if (first === undefined || all.length > 1) throw new Error(`${all.length} executions`);
      return first;
    },

    contactId: (email = "ada@example.net"): string =>
      t.db.sqlite
        .query<{ id: string }, [string]>("SELECT id FROM contacts WHERE email = ?")
        .get(email)?.id ?? "",

    /** Mails that workflows made: `address subject status`. */
    mails: (): string[] =>
      t.db.sqlite
        .query<{ mail: string }, []>(
          `SELECT coalesce(to_address, 'nobody') || ' ' || subject || ' ' || status AS mail
           FROM emails WHERE source = 'WORKFLOW' ORDER BY seq`,
        )
        .all()
        .map(({ mail }) => mail),

    close: () => t.close(),
  };
}

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
