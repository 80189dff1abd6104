/** The values of the settings of a project in words. */

export const TRACKING_CHOICES = [
  {
    value: "ENABLED",
    label: "All mail",
    description: "Opens and clicks are recorded, also in receipts and password mails.",
  },
  {
    value: "MARKETING_ONLY",
    label: "Marketing mail only",
    description: "Opens and clicks are recorded in campaigns and workflows.",
  },
  {
    value: "CONSENT",
    label: "Marketing mail of contacts who agreed",
    description: "Opens and clicks are recorded only of contacts whose tracking is allowed.",
  },
  {
    value: "DISABLED",
    label: "No mail",
    description: "Nothing is recorded: links are not changed, and there is no tracking image.",
  },
] as const;

/** The languages in which the pages for recipients exist. */
export const LANGUAGE_TAGS = ["en", "de", "fr", "es", "nl", "pt", "it", "pl", "ja"] as const;

const names = new Intl.DisplayNames(["en"], { type: "language" });

/** "German (Deutsch)". */
export const LANGUAGE_CHOICES = LANGUAGE_TAGS.map((value) => {
  const english = names.of(value) ?? value;
  const own = new Intl.DisplayNames([value], { type: "language" }).of(value) ?? value;
  return { value, label: own === english ? english : `${english} (${own})` };
});
