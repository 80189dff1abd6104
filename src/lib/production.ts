/**
 * Sets the mode and the time zone of the process. The bracket form is needed, because bundling
 * replaces `process.env.NODE_ENV`.
 */

import "./time-zone.ts";

process.env["NODE_ENV"] ||= "production";

// LiquidJS reads a date without a time zone as local time, and mails must have the same dates on
// every machine. Threads of this process follow the setting as well.
process.env["TZ"] = "UTC";
