/** Helper, preloaded into a server: its wall clock is ahead by CLOCK_AHEAD_MS milliseconds. */

const aheadMs = Number(process.env["CLOCK_AHEAD_MS"]);
const now = Date.now;
Date.now = () => now() + aheadMs;
