/** The texts of a time for which something is planned. */

const planned = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const short = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "numeric",
  minute: "2-digit",
});
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** "28 Mar 2027, 02:30 (Europe/Berlin)". */
export const plannedTime = (time: Date): string => `${planned.format(time)} (${zone})`;

/** "28 Mar, 02:30", for cells of a table; the full text is their title. */
export const shortPlannedTime = (time: Date): string => short.format(time);
