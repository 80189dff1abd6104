/**
 * Invitations to a project. In order: an admin invites an address, which gets a link by mail; the
 * link works once and for seven days; the page of the link shows the project; accepting it makes the
 * owner of the address a member. A person without an account chooses a name and a password. The
 * user of an account signs in first, because the admin may know the link as well.
 *
 * An address is invited a few times a day only, so that it is not flooded with mail.
 *
 * A link that was sent by mail proves the address. A link that the admin was shown does not: an
 * account that is made with it works in that project only, until its address is proven.
 */

import { and, asc, eq, gt, isNull } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { type MemberRole, userTokens } from "../../db/schema/accounts.ts";
import { projects } from "../../db/schema/projects.ts";
import type { Change } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";
import type { AccountMails } from "./account-mails.ts";
import type { createMemberships } from "./members.ts";
import type { createTokens } from "./tokens.ts";
import type { createUsers, UserRow } from "./users.ts";

/** An open invitation. Its token is stored as a digest only. */
type Invitation = {
  id: string;
  email: string;
  role: MemberRole;
  createdAt: number;
  expiresAt: number;
};

type TokenRow = typeof userTokens.$inferSelect;

/** Largest number of open invitations of a project. */
const MAX_OPEN = 100;
/** Most invitations of one address in 24 hours: those of one project, and those of all projects. */
const MAX_A_DAY = { ofProject: 5, ofAll: 20 };
const DAY_MS = 24 * 60 * 60_000;

export function createInvitations(deps: {
  db: Db;
  clock: Pick<Clock, "now">;
  users: ReturnType<typeof createUsers>;
  tokens: ReturnType<typeof createTokens>;
  members: ReturnType<typeof createMemberships>;
  mails: AccountMails;
  url: string;
}) {
  const { db, clock, users, tokens, members, mails, url } = deps;

  /** The conditions of the open invitations to a project. */
  const isOpen = (projectSeq: number) =>
    and(
      eq(userTokens.projectSeq, projectSeq),
      eq(userTokens.kind, "INVITATION"),
      isNull(userTokens.usedAt),
      gt(userTokens.expiresAt, clock.now()),
    );

  function list(projectSeq: number): Invitation[] {
    return db
      .select()
      .from(userTokens)
      .where(isOpen(projectSeq))
      .orderBy(asc(userTokens.seq))
      .all()
      .map(invitationOf);
  }

  /** Part of a change: makes the earlier invitations of an address to a project useless. */
  function withdrawEarlier(projectSeq: number, email: string): void {
    db.update(userTokens)
      .set({ usedAt: clock.now() })
      .where(and(isOpen(projectSeq), eq(userTokens.email, email)))
      .run();
  }

  /** Throws 429 if the address was invited often in the last 24 hours. */
  function requireFew(projectSeq: number, email: string): void {
    const recent = db
      .select({ projectSeq: userTokens.projectSeq, createdAt: userTokens.createdAt })
      .from(userTokens)
      .where(and(eq(userTokens.email, email), gt(userTokens.createdAt, clock.now() - DAY_MS)))
      .orderBy(asc(userTokens.createdAt))
      .all();
    const own = recent.filter((row) => row.projectSeq === projectSeq);
    const oldest = own.at(-MAX_A_DAY.ofProject) ?? recent.at(-MAX_A_DAY.ofAll);
    if (oldest !== undefined) throw invitedOften(oldest.createdAt + DAY_MS - clock.now());
  }

  function requireNoMember(projectSeq: number, email: string): void {
    const user = users.findByEmail(email);
    if (user === null) return;
    if (user.isOwner) throw alreadyMember("This user is an owner, who may open every project.");
    const member = members.find(projectSeq, user.id);
    if (member !== null) throw alreadyMember("This user is a member of the project already.");
  }

  return {
    list,

    /**
     * Invites an address, which must be in its stored form. `link` is null if it is sent by mail;
     * otherwise the admin passes it on. An earlier invitation of the address is replaced.
     */
    invite(
      project: { seq: number; name: string },
      { email, role, by }: { email: string; role: MemberRole; by: string },
    ): Change<{ invitation: Invitation; link: string | null }> {
      return () => {
        requireNoMember(project.seq, email);
        requireFew(project.seq, email);
        withdrawEarlier(project.seq, email);
        if (list(project.seq).length >= MAX_OPEN) throw tooMany();
        const { row, text } = tokens.issue({
          kind: "INVITATION",
          email,
          projectSeq: project.seq,
          role,
        })();
        const link = `${url}/app/invite#${text}`;
        const isMailed = mails.sendInvitation({
          to: email,
          project,
          by,
          link,
          expiresAt: row.expiresAt,
        });
        if (isMailed) tokens.setMailed(row.seq);
        return { invitation: invitationOf(row), link: isMailed ? null : link };
      };
    },

    /** Withdraws an open invitation. Throws 404 if there is none. */
    withdraw(projectSeq: number, id: string): Change<Invitation> {
      return () => {
        const row = db
          .update(userTokens)
          .set({ usedAt: clock.now() })
          .where(and(isOpen(projectSeq), eq(userTokens.id, id)))
          .returning()
          .get();
        if (row === undefined) throw noSuchInvitation();
        return invitationOf(row);
      };
    },

    /** The facts of an invitation that the page of its link shows. Throws 404 if the link does not work. */
    show(token: string) {
      const row = tokens.find("INVITATION", token);
      const { email, role } = invitationOf(row);
      const project = projectOf(row);
      return {
        email,
        role,
        project: { id: project.id, name: project.name },
        needsPassword: makesAccount(row, users.findByEmail(email)),
      };
    },

    /**
     * Part of a change: uses the link of an invitation up. `user` is the account of its address, and
     * `makesAccount` tells whether the link makes it, or takes it over from one who had not proven it.
     */
    redeem(token: string) {
      const row = tokens.redeem("INVITATION", token)();
      const invitation = invitationOf(row);
      const user = users.findByEmail(invitation.email);
      return {
        ...invitation,
        projectSeq: projectOf(row).seq,
        isMailed: row.isMailed,
        user,
        makesAccount: makesAccount(row, user),
      };
    },
  };

  function makesAccount({ isMailed }: TokenRow, user: UserRow | null): boolean {
    return user === null || (isMailed && user.unprovenProjectSeq !== null);
  }

  function projectOf({ projectSeq }: TokenRow) {
    if (projectSeq === null) throw new Error("an invitation has no project");
    const row = db.select().from(projects).where(eq(projects.seq, projectSeq)).limit(1).get();
    if (row === undefined) throw new Error("the project of an invitation is missing");
    return row;
  }
}

function invitationOf({ id, email, role, createdAt, expiresAt }: TokenRow): Invitation {
  if (email === null || role === null) throw new Error("an invitation has no address or role");
  return { id, email, role, createdAt, expiresAt };
}

function noSuchInvitation(): AppError {
  return new AppError(404, "INVITATION_NOT_FOUND", "There is no such open invitation.", {
    suggestion: "GET /team lists the open invitations.",
  });
}

function alreadyMember(message: string): AppError {
  return new AppError(409, "CONFLICT", message);
}

function invitedOften(waitMs: number): AppError {
  const message = "This address was invited too often in the last 24 hours.";
  return new AppError(429, "RATE_LIMIT_EXCEEDED", message, {
    headers: { "Retry-After": String(Math.max(1, Math.ceil(waitMs / 1000))) },
    suggestion: "Use the link of the last invitation, or wait a day.",
  });
}

function tooMany(): AppError {
  return new AppError(409, "CONFLICT", `A project has at most ${MAX_OPEN} open invitations.`, {
    suggestion: "Withdraw invitations that are no longer needed.",
  });
}
