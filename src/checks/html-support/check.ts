/**
 * Says how well mail programs support the HTML and CSS of a message: detect.ts finds the features
 * that it uses, data.ts has the results of the programs.
 */

import { type SupportFeature, supportData } from "./data.ts";
import { detectFeatures } from "./detect.ts";

type SupportLevel = "yes" | "partial" | "no";

export type SupportResult = {
  family: string;
  /** Key of the platform, such as `ios` or `desktop-webmail`. */
  platform: string;
  platformName: string;
  version: string;
  support: SupportLevel;
  /** Numbers of notes, joined by commas; empty without notes. */
  notes: string;
};

/** Shares in percent. */
export type Shares = { supported: number; partial: number; unsupported: number };

export type SupportFinding = {
  feature: SupportFeature;
  /** Number of uses in the message. */
  found: number;
  results: SupportResult[];
  shares: Shares;
};

export type HtmlSupport = {
  nodes: number;
  /** All features that the message uses, the worst supported first. */
  findings: SupportFinding[];
  /** Weighted by the numbers of uses. */
  total: Shares;
};

const LEVELS: Readonly<Record<string, SupportLevel>> = { y: "yes", a: "partial", n: "no" };

export function checkHtmlSupport(html: string): HtmlSupport {
  const { nodes, found } = detectFeatures(html);
  const findings = supportData().features.flatMap((feature) => {
    const count = found.get(feature.slug);
    return count === undefined ? [] : [findingOf(feature, count)];
  });
  findings.sort((a, b) => a.shares.supported - b.shares.supported);
  return { nodes, findings, total: totalOf(findings) };
}

/** The families of each platform. */
export function supportPlatforms(): Record<string, string[]> {
  const { features, families } = supportData();
  const found = new Map<string, Set<string>>();
  for (const { stats } of features) {
    for (const [family, platforms] of Object.entries(stats)) {
      for (const platform of Object.keys(platforms)) {
        const names = found.get(platform) ?? new Set<string>();
        found.set(platform, names.add(families[family] ?? family));
      }
    }
  }
  return Object.fromEntries([...found].map(([platform, names]) => [platform, [...names].sort()]));
}

function findingOf(feature: SupportFeature, found: number): SupportFinding {
  const results = resultsOf(feature);
  const share = (level: SupportLevel) => {
    const count = results.filter(({ support }) => support === level).length;
    return results.length === 0 ? 0 : round((100 * count) / results.length);
  };
  const shares = {
    supported: share("yes"),
    partial: share("partial"),
    unsupported: share("no"),
  };
  return { feature, found, results, shares };
}

/** Programs whose support is not known are left out. */
function resultsOf({ stats }: SupportFeature): SupportResult[] {
  const { families, platforms } = supportData();
  return Object.entries(stats).flatMap(([family, byPlatform]) =>
    Object.entries(byPlatform).flatMap(([platform, [version, value]]) => {
      const support = LEVELS[value.charAt(0)];
      if (support === undefined) return [];
      const notes = [...value.matchAll(/#(\d{1,3})/g)].map(([, number = ""]) => number).join(",");
      const platformName = platforms[platform] ?? platform;
      return [
        { family: families[family] ?? family, platform, platformName, version, support, notes },
      ];
    }),
  );
}

function totalOf(findings: readonly SupportFinding[]): Shares {
  const uses = findings.reduce((sum, { found }) => sum + found, 0);
  const weighted = (share: (shares: Shares) => number) =>
    round(findings.reduce((sum, { shares, found }) => sum + share(shares) * found, 0) / uses);
  if (uses === 0) return { supported: 100, partial: 0, unsupported: 0 };
  return {
    supported: weighted(({ supported }) => supported),
    partial: weighted(({ partial }) => partial),
    unsupported: weighted(({ unsupported }) => unsupported),
  };
}

const round = (value: number): number => Math.round(value * 100) / 100;
