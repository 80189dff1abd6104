/** The settings that the variables of Mailpit give to `mailstead dev`. */

import { withMailpitVariables } from "../../src/config/mailpit-variables.ts";
import { readConfig } from "../../src/config/read.ts";
import type { Config } from "../../src/config/settings.ts";

export function mailpitConfig(variables: Readonly<Record<string, string>>): Partial<Config> {
  const config = readConfig({}, withMailpitVariables(variables).environment, { mailpitApi: true });
  return { ...config, port: 0, host: "127.0.0.1", captureSmtp: { host: "127.0.0.1", port: 0 } };
}
