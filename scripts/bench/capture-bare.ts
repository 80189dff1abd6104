/**
 * Helper: the package smtp-server alone. It reads each message and answers 250 without storing it,
 * which is the most that a listener on this package can reach on this machine with this load. Prints
 * `{port}`.
 */

import { SMTPServer } from "smtp-server";

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ["STARTTLS"],
  disableReverseLookup: true,
  onData(stream, _, callback) {
    stream.on("end", () => callback(null, "OK"));
    stream.resume();
  },
});
const listening = server.listen(0, "127.0.0.1", () => {
  const address = listening.address();
  console.log(
    JSON.stringify({ port: address !== null && typeof address === "object" ? address.port : 0 }),
  );
});
