/** The lives of the certificates in use, for the alert about their end. */

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certificateStates, serverCertificate } from "../../src/tls/server-certificate.ts";
import { testApp } from "../support/app.ts";
import { makeCertificate } from "../support/tls.ts";

const folder = mkdtempSync(join(tmpdir(), "certificate-states-"));
afterAll(() => rmSync(folder, { recursive: true }));

const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
const made = makeCertificate(["mail.acme.test"]);
writeFileSync(cert, made.cert);
writeFileSync(key, made.key);
const submission = { host: "127.0.0.1", port: 0 };

test("are those of HTTPS and of the SMTP listeners, if they are used", async () => {
  const cases = [
    [{}, []],
    [{ smtpTlsCert: cert, smtpTlsKey: key }, []],
    [{ smtpTlsCert: cert, smtpTlsKey: key, submission }, ["SMTP"]],
    [{ tls: "files", tlsCert: cert, tlsKey: key, url: "https://mail.acme.test" }, ["HTTPS"]],
  ] as const;
  for (const [config, names] of cases) {
    const t = await testApp({ config });
    await serverCertificate(t.app.app).load();
    const states = certificateStates(t.app.app);
    expect(states.map(({ name }) => name)).toEqual([...names]);
    for (const { life, failure } of states) {
      expect([(life?.to ?? 0) > (life?.from ?? Infinity), failure]).toEqual([true, null]);
    }
    await t.close();
  }
});
