/** Sums up how well mail programs support the HTML and CSS of a message. */

import type { Shares } from "./check.ts";

const MAX_FEATURES = 50;
/** Longest HTML whose support is checked; programs show about 100 kB. */
const MAX_CHARACTERS = 128 * 1024;

type FeatureSupport = Shares & {
  slug: string;
  title: string;
  url: string;
  /** Number of uses in the HTML. */
  uses: number;
  /** Names of mail programs. */
  unsupportedBy: string[];
};

/** `support` is for all features, and `features` are those that not all programs support. */
export type SupportSummary = { support: Shares; features: FeatureSupport[] };

export async function summarizeSupport(html: string): Promise<SupportSummary> {
  // Loaded at the first check: the text of the data has half a megabyte.
  const { checkHtmlSupport } = await import("./check.ts");
  const { findings, total } = checkHtmlSupport(html.slice(0, MAX_CHARACTERS));
  const features = findings
    .filter(({ shares }) => shares.supported < 100)
    .slice(0, MAX_FEATURES)
    .map(({ feature, found, results, shares }) => {
      const refusing = results.filter(({ support }) => support === "no");
      return {
        slug: feature.slug,
        title: feature.title,
        url: feature.url,
        uses: found,
        ...shares,
        unsupportedBy: refusing.map(({ family, platformName }) => `${family} ${platformName}`),
      };
    });
  return { support: total, features };
}
