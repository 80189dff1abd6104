/**
 * Reads the settings of an image from the last stage of a Dockerfile, as far as ours uses its language:
 * names and values without quotes, and commands in their JSON form.
 */

import { readFileSync } from "node:fs";

/** Docker writes durations in nanoseconds. */
const NANOSECONDS = 1_000_000_000;

/** Throws an error that names the instruction if it cannot be read. */
export function readImageSettings(file: string) {
  const lines = readFileSync(file, "utf8")
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => /^[A-Z]+ /.test(line));
  const stage = lines.slice(lines.findLastIndex((line) => line.startsWith("FROM ")));
  const all = (name: string) =>
    stage.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  const one = (name: string) => {
    const [value, ...more] = all(name);
    if (value === undefined || more.length > 0) throw new Error(`${file}: expected one ${name}`);
    return value.trim();
  };
  return {
    User: one("USER"),
    WorkingDir: one("WORKDIR"),
    Volumes: { [one("VOLUME")]: {} },
    ExposedPorts: Object.fromEntries(
      one("EXPOSE")
        .split(/ +/)
        .map((port) => [`${port}/tcp`, {}]),
    ),
    Env: ["PATH=/usr/local/bin:/usr/bin:/bin", ...all("ENV").flatMap(readWords)],
    Entrypoint: readCommand(one("ENTRYPOINT")),
    Cmd: readCommand(one("CMD")),
    Healthcheck: readHealthCheck(one("HEALTHCHECK")),
  };
}

const readWords = (text: string) => text.trim().split(/ +/);

function readCommand(text: string): string[] {
  const words: unknown = JSON.parse(text);
  if (Array.isArray(words) && words.every((word) => typeof word === "string")) return words;
  throw new Error(`not a command in the JSON form: ${text}`);
}

/** The options of the check are whole seconds. */
function readHealthCheck(text: string) {
  const [options = "", command = ""] = text.split("CMD ");
  const seconds = Object.fromEntries(
    readWords(options).map((option) => {
      const [, name = "", value] = /^--([a-z-]+)=(\d+)s$/.exec(option) ?? [];
      if (value === undefined) throw new Error(`not an option of HEALTHCHECK: ${option}`);
      return [name, Number(value) * NANOSECONDS];
    }),
  );
  return {
    Test: ["CMD", ...readCommand(command)],
    Interval: seconds["interval"],
    Timeout: seconds["timeout"],
    StartPeriod: seconds["start-period"],
  };
}
