/** The contacts that a campaign is for, and how many of them it will be sent to. */

import { eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { segments as segmentTable } from "../../db/schema/segments.ts";
import type { Page } from "../../http/envelope.ts";
import { bySeq, listPage } from "../../http/pagination.ts";
import { AppError } from "../../lib/errors.ts";
import type { Contact } from "../contacts/model.ts";
import { presentContact } from "../contacts/service.ts";
import { parseStored } from "../segments/condition/condition.ts";
import {
  IS_NOBODY,
  IS_NOT_PAUSED,
  IS_NOT_SUPPRESSED,
  IS_PAUSED,
  IS_SUBSCRIBED,
  IS_UNSUBSCRIBED,
  inTopic,
  notInTopic,
  isSuppressedFor,
} from "../segments/condition/audience-tests.ts";
import { problemSentence, problemsOf } from "../segments/condition/problems.ts";
import type { Counted } from "../segments/model.ts";
import { type Segments, segmentService } from "../segments/service.ts";
import { type Tallies, type ContactTally, tallyAudience } from "../segments/sql/tally.ts";
import {
  MARKETING_REFUSALS,
  type MarketingRefusal,
  requireMarketing,
  topicBySeq,
  topicColumn,
  type TopicRow,
} from "../topics/choices.ts";
import {
  type AudienceBreakdown,
  type AudienceContactsQuery,
  type AudienceInput,
  EXCLUSION_REASONS,
  type ExclusionReason,
} from "./audience-model.ts";
import { type AudienceColumns, audienceColumnsOf } from "./columns.ts";
import type { CampaignRow } from "./present.ts";
import { perApp } from "../../lib/per-app.ts";

type Audience = ReturnType<Segments["audienceOfCondition"]>;
type Tests = NonNullable<Parameters<Segments["audienceOfCondition"]>[2]>;

/** Contacts of each kind from which a rehearsal chooses. */
const SAMPLED = 60;
/** Random contacts that are compared with the audience in one statement. */
const DRAWN = 400;

/**
 * The members of a campaign that decide who gets it. An audience without an id is that of no
 * campaign.
 */
type AudienceOf = Pick<CampaignRow, "projectSeq" | "category" | "audienceCondition" | "topicSeq"> &
  ReturnType<AudienceColumns> & { id?: string };

export const campaignAudience = perApp(createCampaignAudience);

function createCampaignAudience(app: App) {
  const { db } = app;
  const segments = segmentService(app);

  function segmentIdOf({ segmentSeq }: AudienceOf): string | null {
    if (segmentSeq === null) return null;
    const match = eq(segmentTable.seq, segmentSeq);
    const [row] = db.select({ id: segmentTable.id }).from(segmentTable).where(match).limit(1).all();
    return row?.id ?? null;
  }

  /** The contacts that match the audience of a campaign and meet all of `tests`. */
  function matching(campaign: AudienceOf, tests: Tests): Audience {
    const { projectSeq, audienceType, audienceFilter, audienceCondition } = campaign;
    // A STATIC segment has no condition: its current members are the audience.
    if (audienceType === "SEGMENT" && audienceCondition === null) {
      const id = segmentIdOf(campaign);
      if (id === null) throw segmentGone();
      return segments.audienceOf(projectSeq, id, tests);
    }
    const text = audienceCondition ?? audienceFilter;
    const condition = text === null ? null : parseStored(JSON.parse(text), "audienceFilter");
    return segments.audienceOfCondition(projectSeq, condition, tests);
  }

  const { members, page, pageWithTotal } = segments.audiences;

  /** The topic of a marketing campaign; null without one. */
  const topicOf = ({ category, topicSeq }: TopicSource): TopicRow | null =>
    category === "MARKETING" ? topicBySeq(app, topicSeq) : null;

  /** Tests of marketing campaigns: the contact is subscribed, in the topic, and has not paused. */
  function consentTests(campaign: TopicSource): Tests {
    if (campaign.category !== "MARKETING") return [];
    const topic = topicOf(campaign);
    return [IS_SUBSCRIBED, ...(topic === null ? [] : [inTopic(topic)]), IS_NOT_PAUSED];
  }

  /**
   * The tests of the contacts who get no mail for a reason; without a reason, of the contacts who
   * get it.
   */
  function testsOf(campaign: TopicSource, reason: ExclusionReason | undefined): Tests {
    const consent = consentTests(campaign);
    if (reason === undefined) return [...consent, IS_NOT_SUPPRESSED];
    if (!isRefusal(reason)) return [...consent, isSuppressedFor(reason)];
    if (campaign.category !== "MARKETING") return [IS_NOBODY];
    const topic = topicOf(campaign);
    switch (reason) {
      case "UNSUBSCRIBED":
        return [IS_UNSUBSCRIBED];
      case "TOPIC":
        return topic === null ? [IS_NOBODY] : [IS_SUBSCRIBED, notInTopic(topic)];
      case "PAUSED":
        return [IS_SUBSCRIBED, ...(topic === null ? [] : [inTopic(topic)]), IS_PAUSED];
    }
  }

  /**
   * The contacts that a campaign is sent to: for marketing only subscribed ones, who are in its topic and
   * have not paused (docs/interface.md#campaigns). Relative times count from the start of sending, which may be long
   * ago if the process was interrupted.
   * Throws 409 if its segment was deleted or a stored comparison cannot be made, so that it is not
   * sent to a part of its audience; 422 if its filter names a deleted segment.
   */
  function subscribed(campaign: CampaignRow, tests = consentTests(campaign)): Audience {
    const audience = matching(campaign, tests);
    const [problem] = problemsOf(audience.tests);
    if (problem !== undefined) {
      throw new AppError(409, "INVALID_STATE", problemSentence(problem), {
        suggestion: "Correct the condition of the audience.",
      });
    }
    return campaign.startedAt === null
      ? audience
      : segments.audienceAt(audience, campaign.startedAt);
  }

  return {
    subscribed,

    /** Throws 409 if no contact would receive it, and like `subscribed`. */
    async ensureRecipients(campaign: CampaignRow): Promise<void> {
      const audience = subscribed(campaign, testsOf(campaign, undefined));
      const found = await page(audience, { beforeSeq: null, limit: 1 });
      if (found.length > 0) return;
      throw new AppError(409, "INVALID_STATE", "This campaign has no recipients.", {
        suggestion: "Check its audience: only subscribed contacts receive campaigns.",
      });
    },

    /**
     * Counts the contacts who match now, and those of them who get no mail. Throws like
     * `subscribed`.
     */
    async breakdown(audience: AudienceOf, counted: Counted = "EXACT"): Promise<AudienceBreakdown> {
      const found = await tallyAudience(app, matching(audience, []), counted, topicOf(audience));
      return breakdownOf(found, audience);
    },

    /**
     * The contacts of the audience who get no mail for a reason; without a reason, the contacts who
     * get it. Throws like `subscribed`.
     */
    contacts(
      campaign: CampaignRow,
      { reason, ...query }: AudienceContactsQuery,
    ): Promise<Page<Contact>> {
      const audience = matching(campaign, testsOf(campaign, reason));
      return listPage(app)(
        { scope: `${campaign.projectSeq}:audience:${campaign.id}:${reason ?? ""}`, query },
        async (request) => {
          const beforeSeq = request.after?.[0] ?? null;
          const { limit } = request;
          const found = await pageWithTotal(audience, { beforeSeq, limit });
          return { ...found, positionOf: bySeq };
        },
        (rows) => rows.map(presentContact),
      );
    },

    /**
     * Some of the contacts who get the campaign: the newest ones, the oldest ones and random ones of
     * all contacts. Throws like `subscribed`.
     */
    async sample(campaign: CampaignRow): Promise<number[]> {
      const audience = matching(campaign, testsOf(campaign, undefined));
      const newest = await page(audience, { beforeSeq: null, limit: SAMPLED });
      const oldest: number[] = [];
      for await (const seqs of members(audience)) {
        oldest.push(...seqs);
        if (oldest.length >= SAMPLED) break;
      }
      const [first] = oldest;
      const last = newest[0]?.seq;
      if (first === undefined || last === undefined) return [];
      const drawn = Array.from(
        { length: DRAWN },
        () => first + Math.floor(app.random() * (last - first + 1)),
      );
      const random = segments.audiences.matching(audience, drawn);
      const ends = [...newest.map(({ seq }) => seq), ...oldest.slice(0, SAMPLED)];
      return [...new Set([...ends, ...random.slice(0, SAMPLED)])];
    },

    /** The audience that a request describes, which belongs to no campaign. */
    described(projectSeq: number, input: AudienceInput): AudienceOf {
      const { audienceType, segmentId = null, audienceFilter: filter = null } = input;
      const columns = audienceColumnsOf(app)(projectSeq, {
        audienceType,
        segmentId,
        audienceFilter: filter,
      });
      const category = categoryOf(input);
      const { topicSeq = null } = topicColumn(app, projectSeq, input.topicId);
      if (topicSeq !== null) requireMarketing(category);
      return { ...columns, projectSeq, audienceCondition: null, category, topicSeq };
    },
  };
}

const categoryOf = ({ category, type }: AudienceInput) => category ?? type ?? "MARKETING";

function breakdownOf(
  { tallies, isExact }: Tallies,
  { id, category }: AudienceOf,
): AudienceBreakdown {
  const sum = (fits: (each: ContactTally) => boolean) =>
    tallies.filter(fits).reduce((total, each) => total + each.count, 0);
  /** The reason why they get no mail, the first one of several; null if they get it. */
  const reasonOf = ({ isSubscribed, refusal, reason }: ContactTally) => {
    if (category === "TRANSACTIONAL") return reason;
    return isSubscribed ? (refusal ?? reason) : "UNSUBSCRIBED";
  };
  const matched = sum(() => true);
  const counts = EXCLUSION_REASONS.map((reason) => ({
    reason,
    count: sum((each) => reasonOf(each) === reason),
    query: id === undefined ? null : `/campaigns/${id}/audience/contacts?reason=${reason}`,
  }));
  const countOf = (isAmong: (reason: ExclusionReason) => boolean) =>
    counts.filter(({ reason }) => isAmong(reason)).reduce((total, { count }) => total + count, 0);
  return {
    matched,
    matching: matched,
    unsubscribed: countOf((reason) => reason === "UNSUBSCRIBED"),
    suppressed: countOf((reason) => !isRefusal(reason)),
    recipients: sum((each) => reasonOf(each) === null),
    isExact,
    excluded: counts.filter((each) => each.count > 0),
  };
}

function segmentGone(): AppError {
  return new AppError(
    409,
    "INVALID_STATE",
    "This campaign has no segment: none was chosen, or it was deleted.",
    {
      suggestion: "Give it another audience: PATCH /campaigns/{id}.",
    },
  );
}

type TopicSource = Pick<CampaignRow, "category" | "topicSeq">;

const isRefusal = (reason: ExclusionReason): reason is MarketingRefusal =>
  MARKETING_REFUSALS.some((each) => each === reason);
