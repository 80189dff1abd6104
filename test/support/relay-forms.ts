/** Forms of RCPT by which tests for open relays try to reach another domain. */

/** `own` is a name of the server, `other` a domain that it does not serve. */
export function relayForms(own: string, other: string): string[] {
  return [
    `<user@${other}>`,
    `<user%${other}@${own}>`,
    `<user%${other}>`,
    `<"user@${other}"@${own}>`,
    `<"user%${other}"@${own}>`,
    `<"user@${other}">`,
    `<@${own}:user@${other}>`,
    `<@${own},@${other}:user@${other}>`,
    `<${other}!user@${own}>`,
    `<${other}!user>`,
    `<user@${other}@${own}>`,
    `<user@${own}@${other}>`,
    `<user@[127.0.0.1]>`,
    `<user%${other}@[127.0.0.1]>`,
    `<user@localhost>`,
    `<user@${own}.${other}>`,
    `<postmaster@${other}>`,
    `<postmaster%${other}@${own}>`,
    `<"postmaster@${other}"@${own}>`,
    `<b+aaaa@bounce.${other}>`,
    `user@${other}`,
    `<${own}!${other}!user@${own}>`,
  ];
}
