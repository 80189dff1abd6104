/**
 * The failure rules of inboxes.
 *
 * 1. Rules are stored, and kept in memory while an inbox has some.
 * 2. At each stage of an SMTP transaction `decide` compares the rules of the inbox in the order of
 *    their creation. The first one that matches fires.
 * 3. A rule fires by a conditional update, so that it never fires more often than `times`, and the
 *    count is on disk before the client sees the failure.
 */

import { Value } from "@sinclair/typebox/value";
import type { Change } from "../../../db/writer.ts";
import { isoTime } from "../../../lib/clock.ts";
import { AppError, notFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/id.ts";
import { type Rule, RuleInput, type RuleStage } from "./model.ts";
import { matchesPattern } from "./pattern.ts";
import type { App } from "../../../core/app.ts";
import { onRowsRewritten } from "../../../lib/cached-rows.ts";
import { perApp } from "../../../lib/per-app.ts";
import { announceRefusals } from "../service.ts";

const MAX_RULES = 100;

type Row = {
  seq: number;
  id: string;
  rule: string;
  remaining: number | null;
  fired: number;
  createdAt: number;
};
type KnownRule = Row & { input: RuleInput };

/** The values that rules compare. Values that are not known at a stage are absent. */
type RuleFacts = {
  user: string;
  ip: string;
  from?: string;
  recipients?: readonly string[];
  /** Reads the subject; called only if a rule compares it. */
  subject?: () => Promise<string>;
};

export const failureRules = perApp(createRules);

function createRules(app: App) {
  const { writer, clock, random } = app;
  const { sqlite } = app.db;
  /** Called after rules of an inbox changed, or one fired. */
  const onChange = (inboxSeq: number) => announceRefusals(app, inboxSeq);
  const select = `SELECT seq, id, rule, remaining, fired, created_at AS createdAt
                  FROM inbox_rules WHERE inbox_seq = +? ORDER BY seq`;
  const ofInbox = sqlite.prepare<Row, [number]>(select);
  const withRules = sqlite.prepare<{ seq: number }, []>(
    "SELECT DISTINCT inbox_seq AS seq FROM inbox_rules",
  );
  const insert = sqlite.prepare<
    unknown,
    [string, number, string, string, number | null, number]
  >(`INSERT INTO inbox_rules (id, inbox_seq, stage, rule, remaining, created_at)
     VALUES (?, ?, ?, ?, ?, ?)`);
  const fire = sqlite.prepare<unknown, [number]>(`
    UPDATE inbox_rules SET fired = fired + 1, remaining = remaining - 1
    WHERE seq = +? AND (remaining IS NULL OR remaining > 0)`);
  const removeOne = sqlite.prepare<unknown, [string, number]>(
    "DELETE FROM inbox_rules WHERE id = ? AND inbox_seq = +?",
  );
  const removeAll = sqlite.prepare<unknown, [number]>(
    "DELETE FROM inbox_rules WHERE inbox_seq = +?",
  );
  /** Inboxes that may have rules; null before the first use. */
  let inboxSeqs: Set<number> | null = null;
  /** Rules by inbox, until one changes. */
  const known = new Map<number, KnownRule[]>();

  onRowsRewritten(app, ["inbox_rules"], () => known.clear());

  function inboxesWithRules(): Set<number> {
    inboxSeqs ??= new Set(withRules.all().map(({ seq }) => seq));
    return inboxSeqs;
  }

  function rulesOf(inboxSeq: number): KnownRule[] {
    const cached = known.get(inboxSeq);
    if (cached !== undefined) return cached;
    const rules = ofInbox.all(inboxSeq).map((row) => ({ ...row, input: parseRule(row.rule) }));
    known.set(inboxSeq, rules);
    return rules;
  }

  /** Part of a change: forgets the rules in memory. */
  function changed(inboxSeq: number): void {
    known.delete(inboxSeq);
    inboxSeqs = null;
    writer.afterCommit(() => onChange(inboxSeq));
  }

  /** Resolves to false if the rule has fired often enough meanwhile. */
  async function fires(rule: KnownRule, inboxSeq: number): Promise<boolean> {
    const { probability = 1 } = rule.input;
    if (probability < 1 && random() >= probability) return false;
    const hasFired = await writer.write(() => fire.run(rule.seq).changes > 0);
    known.delete(inboxSeq);
    onChange(inboxSeq);
    return hasFired;
  }

  return {
    /** True if no inbox has rules, so that nothing must be compared. */
    isEmpty: (): boolean => inboxesWithRules().size === 0,

    list: (inboxSeq: number): Rule[] => rulesOf(inboxSeq).map(presentRule),

    /** Number of rules of the inbox that may still fire. */
    countActive: (inboxSeq: number): number =>
      inboxesWithRules().has(inboxSeq)
        ? rulesOf(inboxSeq).filter(({ remaining }) => remaining !== 0).length
        : 0,

    /** Throws 409 if the inbox has too many rules. */
    create(inboxSeq: number, input: RuleInput): Change<Rule> {
      return () => {
        if (rulesOf(inboxSeq).length >= MAX_RULES) throw tooManyRules();
        const now = clock.now();
        const { times = null, stage } = input;
        const { match = {}, action, probability } = input;
        const rule = { match, stage, action, ...(probability !== undefined && { probability }) };
        const text = JSON.stringify(times === null ? rule : { ...rule, times });
        const id = newId(now);
        insert.run(id, inboxSeq, stage, text, times, now);
        changed(inboxSeq);
        const row = { seq: 0, id, rule: text, remaining: times, fired: 0, createdAt: now };
        return presentRule({ ...row, input: parseRule(text) });
      };
    },

    /** Throws 404. */
    remove(inboxSeq: number, id: string): Change<void> {
      return () => {
        if (removeOne.run(id, inboxSeq).changes === 0) throw notFound("RULE");
        changed(inboxSeq);
      };
    },

    removeAll(inboxSeq: number): Change<void> {
      return () => {
        removeAll.run(inboxSeq);
        changed(inboxSeq);
      };
    },

    /** The action of the first rule that matches and fires; null if there is none. */
    async decide(
      inboxSeq: number,
      stage: RuleStage,
      facts: RuleFacts,
    ): Promise<RuleInput["action"] | null> {
      if (!inboxesWithRules().has(inboxSeq)) return null;
      for (const rule of rulesOf(inboxSeq)) {
        if (rule.input.stage !== stage || rule.remaining === 0) continue;
        if (!(await isMatch(rule.input.match ?? {}, facts))) continue;
        if (await fires(rule, inboxSeq)) return rule.input.action;
      }
      return null;
    },
  };
}

async function isMatch(match: NonNullable<RuleInput["match"]>, facts: RuleFacts): Promise<boolean> {
  const { user, ip, from = "", recipients = [] } = facts;
  const holds = (pattern: string | undefined, value: string) =>
    pattern === undefined || matchesPattern(pattern, value);
  if (!holds(match.user, user) || !holds(match.ip, ip) || !holds(match.from, from)) return false;
  if (match.to !== undefined && !recipients.some((address) => holds(match.to, address))) {
    return false;
  }
  if (match.subject === undefined) return true;
  return holds(match.subject, (await facts.subject?.()) ?? "");
}

function parseRule(text: string): RuleInput {
  const value: unknown = JSON.parse(text);
  return Value.Parse(RuleInput, value);
}

function presentRule({ id, fired, remaining, createdAt, input }: Omit<KnownRule, "seq">): Rule {
  const { match = {}, ...rest } = input;
  return { id, ...rest, match, fired, remaining, createdAt: isoTime(createdAt) };
}

function tooManyRules(): AppError {
  return new AppError(409, "CONFLICT", `An inbox has at most ${MAX_RULES} rules.`, {
    suggestion: "Delete rules that are not needed any more.",
  });
}
