/**
 * A program `mailstead` for scripts of other languages. It passes its words and its input to the process
 * of the test, which runs the command.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mailstead } from "./command-line.ts";

/**
 * Writes the program into the subfolder `bin` of the folder, which is also that of its commands.
 * `settings` are the variables that the commands see.
 */
export function startCommandServer(folder: string, settings: Record<string, string>) {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const form = await request.formData();
      const words = form.getAll("word").map(String);
      const input = form.get("input");
      const stdin = typeof input === "string" ? input : "";
      const ran = await mailstead(words, settings, { cwd: folder, stdin });
      return new Response(`${ran.stdout}${ran.stderr}${ran.code}`);
    },
  });
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "mailstead"), programFor(String(server.url)), { mode: 0o755 });
  return { bin, stop: () => server.stop(true) };
}

/** The last line of the answer is the exit code. */
function programFor(url: string): string {
  return `#!/usr/bin/env bash
words=()
for word; do words+=(--form-string "word=$word"); done
answer="$(curl --silent --fail --form "input=<-" "\${words[@]}" "${url}")"
printf '%s\\n' "\${answer%$'\\n'*}"
exit "\${answer##*$'\\n'}"
`;
}
