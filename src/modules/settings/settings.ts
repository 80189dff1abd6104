/**
 * The settings of the installation in the dashboard, for its owners. A flag, a variable and a file take
 * precedence over a value that is set here, and such a setting cannot be changed here.
 *
 * GET    /system/settings           all settings, with their values and where these come from
 * PUT    /system/settings/:name     set one
 * DELETE /system/settings/:name     reset one to its default
 * POST   /system/relay/test         test a relay
 */

import { type Static, Type } from "@sinclair/typebox";
import { eq, sum } from "drizzle-orm";
import { Elysia } from "elysia";
import { ConfigError } from "../../config/read.ts";
import { maskOf } from "../../config/setting-masks.ts";
import { SETTING_SUBJECTS, storable } from "../../config/setting-subjects.ts";
import { type Config, type SettingName, SETTINGS } from "../../config/settings.ts";
import type { App } from "../../core/app.ts";
import { users } from "../../db/schema/accounts.ts";
import { projectUsage } from "../../db/schema/projects.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { describeOperations } from "../../http/documented.ts";
import { CONDITIONAL_ERRORS, Envelope, envelope, withErrors } from "../../http/envelope.ts";
import { ensureRevision } from "../../http/if-match.ts";
import { allowIdle } from "../../http/long-requests.ts";
import { ensureChecks } from "../../http/validation.ts";
import { isoTimeOrNull } from "../../lib/clock.ts";
import { AppError, fieldError, notFound } from "../../lib/errors.ts";
import { formatRelayUrl } from "../../protocols/smtp/relay-url.ts";
import { admissionOf } from "../admission.ts";
import type { Module } from "../module.ts";
import { appliedConfig, applySettings, nextConfig } from "./apply.ts";
import {
  InstallationSetting,
  InstallationSettings,
  RelayTest,
  RelayTestInput,
  SettingInput,
} from "./model.ts";
import { presentRelay, relayFrom, runRelayTest } from "./relay.ts";
import { settingNamed, type StoredSetting, storedSettings, storeSetting } from "./stored.ts";

const PARAMETERS = { name: "Name of the setting, which is that of its flag without the dashes" };

const DETAILS = describeOperations(
  { tag: "System" },
  {
    getSettings: {
      role: "OWNER",
      access: "SESSION",
      summary: "The settings of the installation",
      description:
        "All settings, each with its value and where it comes from. Secrets are shown as ***.",
    },
    setSetting: {
      role: "OWNER",
      access: "SESSION",
      summary: "Set a setting of the installation",
      description:
        "The value is parsed as that of the flag. `effect` says when it has an effect. 409 if the " +
        "setting is given by a flag, a variable or a file, which take precedence, or if it cannot be set here.",
      isConditional: true,
      headers: ["ETag"],
      needsConfirmation: true,
      objectType: "setting",
      parameters: PARAMETERS,
    },
    resetSetting: {
      role: "OWNER",
      access: "SESSION",
      summary: "Reset a setting of the installation",
      description: "Removes the value that was set with PUT, so that the default counts again.",
      isConditional: true,
      headers: ["ETag"],
      needsConfirmation: true,
      objectType: "setting",
      parameters: PARAMETERS,
    },
    testInstallationRelay: {
      role: "OWNER",
      access: "SESSION",
      summary: "Test a relay",
      description:
        "Opens a real session: connection, TLS with the check of the certificate, login, and a test mail " +
        "if `to` is given. The answer has each line of the session without the password, marks the one " +
        "that failed, and says what to do. It takes at most 35 seconds; ten tests in a minute are allowed.",
      isAudited: false,
    },
  },
);

const SettingParams = Type.Object({ name: Type.String() });
const changed = { ...withErrors({ 200: Envelope(InstallationSetting) }), ...CONDITIONAL_ERRORS };

/** `remember` is part of a change: it stores the settings that commands need. */
export function settingsModule(app: App, remember: (config: Config) => void): Module {
  const change = (called: Called, to: NewValue) => changeSetting(app, called, to, remember);
  const routes = new Elysia({ name: "settings-routes" })
    .use(admissionOf(app).session)
    .get("/system/settings", () => envelope(readSettings(app)), {
      response: withErrors({ 200: Envelope(InstallationSettings) }),
      detail: DETAILS.getSettings,
    })
    .put(
      "/system/settings/:name",
      ({ body, ...called }) => {
        ensureChecks(SettingInput, body);
        const { params, user } = called;
        const text = textFrom(app, changeableSetting(app, params.name), body);
        return change(called, { text, userId: user.id });
      },
      {
        params: SettingParams,
        body: limited(SettingInput, BODY_LIMITS.settings),
        response: changed,
        detail: DETAILS.setSetting,
      },
    )
    .delete(
      "/system/settings/:name",
      (called) => change(called, { text: null, userId: called.user.id }),
      { params: SettingParams, response: changed, detail: DETAILS.resetSetting },
    )
    .post(
      "/system/relay/test",
      async ({ body, request, server }) => {
        ensureChecks(RelayTestInput, body);
        allowIdle({ request, server }, 0);
        return envelope(await runRelayTest(app, body));
      },
      {
        body: limited(RelayTestInput, BODY_LIMITS.settings),
        response: withErrors({ 200: Envelope(RelayTest) }),
        detail: DETAILS.testInstallationRelay,
      },
    );
  return { name: "settings", routes: [routes] };
}

type Called = {
  request: Request;
  params: Static<typeof SettingParams>;
  set: { headers: Record<string, string | number> };
  storeWithoutQuota: App["writer"]["write"];
};
type NewValue = { text: string | null; userId: string };

/**
 * Stores a value and uses it. Throws 412 if the setting was changed since it was read, and 422 if all
 * settings together do not fit.
 */
async function changeSetting(
  app: App,
  { request, params, set, storeWithoutQuota }: Called,
  to: NewValue,
  remember: (config: Config) => void,
) {
  const name = changeableSetting(app, params.name);
  const answer = await storeWithoutQuota(() => {
    ensureRevision(request, "setting", storedSettings(app).get(params.name)?.revision ?? 0);
    const row = storeSetting(app, name, to);
    const next = fittingConfig(app);
    remember(appliedConfig(app, next));
    return envelope(present(app, name, { row, next }));
  });
  await applySettings(app);
  set.headers["etag"] = `"${answer.data.revision}"`;
  return answer;
}

/** Throws 404 if there is no such setting, and 409 if it cannot be set in the dashboard. */
function changeableSetting(app: App, flag: string): SettingName {
  const name = settingNamed(flag);
  if (name === null) throw notFound("SETTING");
  if (storable(name) === null) {
    throw new AppError(409, "SETTING_FIXED", `${flag} cannot be set in the dashboard.`, {
      suggestion: `Give --${flag} or ${SETTINGS[name].env} to the server, and restart it.`,
    });
  }
  const given = app.settings.given[name];
  if (given === undefined) return name;
  const source = given.source.name;
  throw new AppError(
    409,
    "SETTING_FIXED",
    `${flag} is given by ${source}, which takes precedence.`,
    {
      suggestion: `Change ${source} and restart the server, or remove it to set ${flag} here.`,
    },
  );
}

/** The text of a request, which fits the setting alone. Throws 422. */
function textFrom(app: App, name: SettingName, { value, relay }: SettingInput): string {
  if (relay !== undefined && value === undefined) {
    if (name !== "relayUrl") {
      throw fieldError("relay", "unknown_field", "is a field of relay-url only");
    }
    return formatRelayUrl(relayFrom(relay, app.config.relayUrl));
  }
  if (value === undefined) throw fieldError("value", "required", "is required");
  if (relay !== undefined) throw fieldError("relay", "invalid_value", "excludes value");
  const parsed = SETTINGS[name].parse(value);
  if (!("value" in parsed)) {
    throw fieldError("value", "invalid_value", `must be ${parsed.accepted}`);
  }
  if (maskOf(name) !== null && value.includes("***")) {
    throw fieldError(
      "value",
      "invalid_value",
      "must contain the secret, and not *** instead of it",
    );
  }
  return value;
}

/** Part of a change, after it: all settings together. Throws 422 if they do not fit. */
function fittingConfig(app: App): Config {
  try {
    return nextConfig(app);
  } catch (error) {
    if (error instanceof ConfigError) throw fieldError("value", "invalid_value", error.message);
    throw error;
  }
}

function readSettings(app: App): InstallationSettings {
  const rows = storedSettings(app);
  const next = nextConfig(app);
  const queued = app.db
    .select({ sum: sum(projectUsage.queuedMails) })
    .from(projectUsage)
    .get();
  return {
    settings: SETTING_SUBJECTS.flatMap(([, listed]) =>
      listed.map(([name]) => present(app, name, { row: rows.get(SETTINGS[name].flag), next })),
    ),
    relay: presentRelay(next.relayUrl),
    waitingMails: Math.max(0, Number(queued?.sum)),
  };
}

const SUBJECT_OF: ReadonlyMap<SettingName, string> = new Map(
  SETTING_SUBJECTS.flatMap(([subject, listed]) => listed.map(([name]) => [name, subject] as const)),
);

function present(
  app: App,
  name: SettingName,
  { row, next }: { row: StoredSetting | undefined; next: Config },
): InstallationSetting {
  const { flag, env, help, placeholder, choices, shownDefault } = SETTINGS[name];
  const effect = storable(name);
  const { value, source } = sourceOf(app, name, row);
  return {
    name: flag,
    variable: env,
    subject: SUBJECT_OF.get(name) ?? "",
    help,
    accepts: placeholder,
    choices: choices === undefined ? null : [...choices],
    value,
    default: shownDefault,
    source,
    effect: effect === null ? null : effect === "at once" ? "AT_ONCE" : "AT_START",
    isSecret: maskOf(name) !== null,
    isPending: effect === "at the next start" && !Bun.deepEquals(app.config[name], next[name]),
    revision: row?.revision ?? 0,
    updatedAt: isoTimeOrNull(row?.updatedAt ?? null),
    updatedBy: row === undefined || row.updatedBy === null ? null : addressOf(app, row.updatedBy),
  };
}

const KINDS = { flag: "FLAG", environment: "ENVIRONMENT", file: "FILE" } as const;

function sourceOf(
  app: App,
  name: SettingName,
  row: StoredSetting | undefined,
): Pick<InstallationSetting, "value" | "source"> {
  const given = app.settings.given[name];
  if (given !== undefined) {
    const { kind, ...source } = given.source;
    const value = maskOf(name)?.(given.text) ?? given.text;
    return { value, source: { kind: KINDS[kind], ...source } };
  }
  const value = row?.value ?? null;
  const kind = value === null ? "DEFAULT" : "DASHBOARD";
  return { value, source: { kind, name: null, path: null } };
}

/** There are few users, and a page shows few changes. */
function addressOf({ db }: App, userId: string): string | null {
  const found = db.select({ email: users.email }).from(users).where(eq(users.id, userId)).get();
  return found?.email ?? null;
}
