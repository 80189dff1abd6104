/** The SPF includes of well-known relays. */

const INCLUDES: readonly (readonly [host: RegExp, include: string])[] = [
  [/(^|\.)amazonaws\.com$/, "amazonses.com"],
  [/(^|\.)sendgrid\.net$/, "sendgrid.net"],
  [/(^|\.)mailgun\.org$/, "mailgun.org"],
  [/(^|\.)postmarkapp\.com$/, "spf.mtasv.net"],
  [/(^|\.)mailjet\.com$/, "spf.mailjet.com"],
  [/(^|\.)brevo\.com$/, "spf.brevo.com"],
  [/(^|\.)mandrillapp\.com$/, "spf.mandrillapp.com"],
  [/(^|\.)(gmail|google)\.com$/, "_spf.google.com"],
  [/(^|\.)(office365|outlook)\.com$/, "spf.protection.outlook.com"],
  [/(^|\.)fastmail\.com$/, "spf.messagingengine.com"],
];

/** The SPF mechanism that allows a relay; null if the relay is unknown. */
export function relayMechanism(relayHost: string): string | null {
  const known = INCLUDES.find(([host]) => host.test(relayHost.toLowerCase()));
  return known === undefined ? null : `include:${known[1]}`;
}
