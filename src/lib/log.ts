/** The structured log, as text or as JSON lines. */

import { AppError } from "./errors.ts";
import { systemClock } from "./clock.ts";
import { withoutControls } from "./control-characters.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export const LOG_FORMATS = ["text", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

type LogFields = Readonly<Record<string, unknown>>;
export type Log = {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
};

type LogOptions = {
  level: LogLevel;
  format: LogFormat;
  write?: (line: string) => void;
  now?: () => number;
};

export function createLog(options: LogOptions): Log {
  const write = options.write ?? ((line: string) => void process.stderr.write(`${line}\n`));
  const now = options.now ?? systemClock.now;
  const lowest = LOG_LEVELS.indexOf(options.level);
  const line = options.format === "json" ? jsonLine : textLine;
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (LOG_LEVELS.indexOf(level) < lowest) return;
      write(line(new Date(now()).toISOString(), level, message, fields));
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/**
 * Returns a log that writes errors as warnings when `isOver` is true: they are then consequences of
 * a failure that was logged before.
 */
export function withoutErrors(log: Log, isOver: () => boolean): Log {
  return {
    ...log,
    error: (message, fields) => (isOver() ? log.warn : log.error)(message, fields),
  };
}

/** Returns a log whose entries also name the page of what they are about: `pageOf` reads their fields. */
export function withPages(log: Log, pageOf: (fields: LogFields) => string | null): Log {
  const at =
    (level: keyof Log) =>
    (message: string, fields: LogFields = {}) => {
      const see = pageOf(fields);
      log[level](message, see === null ? fields : { ...fields, see });
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** For tests and commands that print their own result. */
export const silentLog: Log = createLog({ level: "silent", format: "json" });

/** Describes a thrown value for the log, with its stack and causes. Callers never see this. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A refusal says everything in its message; its stack would only repeat where it was thrown.
  if (error instanceof AppError) return error.message;
  const cause = error.cause === undefined ? "" : ` <- ${describeError(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}

function jsonLine(time: string, level: LogLevel, message: string, fields: LogFields): string {
  return JSON.stringify({ time, level, message, ...fields });
}

/** Values may be text of clients, so no value can begin another line or another field. */
function textLine(time: string, level: LogLevel, message: string, fields: LogFields): string {
  const rest = Object.entries(fields)
    .map(([name, value]) => ` ${name}=${textValue(value)}`)
    .join("");
  return `${time.slice(11, 23)} ${level.toUpperCase().padEnd(5)} ${withoutControls(message)}${rest}`;
}

/** A text with a blank or a quotation mark is written as a JSON string. */
function textValue(value: unknown): string {
  if (value === undefined) return "undefined";
  if (typeof value !== "string") return withoutControls(JSON.stringify(value));
  const text = withoutControls(value);
  return /[\s"]/.test(text) ? JSON.stringify(text) : text;
}
