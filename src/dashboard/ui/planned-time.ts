/** The text of a time for which something is planned. */

const planned = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** "28 Mar 2027, 02:30 (Europe/Berlin)". */
export const plannedTime = (time: Date): string => `${planned.format(time)} (${zone})`;
