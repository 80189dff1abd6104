import { Loaded } from "../../ui/loaded.tsx";
import { Copy } from "../../ui/copy.tsx";
import { Status, type Tone } from "../../ui/status.tsx";
import { CodeButton } from "./code-bar.tsx";
import { type Link, type MessagePlace, useCodes, useLinks } from "./use-message.ts";

/** One-time codes with the text around them, and all links, those to sign in first. */
export function LinksTab({ place }: { place: MessagePlace }) {
  return (
    <>
      <section className="section">
        <h3>One-time codes</h3>
        <Loaded query={useCodes(place)} height={80}>
          {({ codes }) =>
            codes.length === 0 ? (
              <p className="muted">The message has no one-time code.</p>
            ) : (
              <ul className="codes">
                {codes.map(({ code, context }) => (
                  <li key={code}>
                    <CodeButton code={code} />
                    <span className="muted">{context}</span>
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </section>
      <section className="section">
        <h3>Links</h3>
        <Loaded query={useLinks(place)} height={160}>
          {(links) =>
            links.length === 0 ? (
              <p className="muted">The message has no links.</p>
            ) : (
              <ul className="links">
                {links.map((link) => (
                  <LinkRow key={`${link.part} ${link.position}`} link={link} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </section>
    </>
  );
}

const KINDS: Readonly<Record<string, { tone: Tone; word: string }>> = {
  MAGIC: { tone: "acted", word: "Signs in or confirms" },
  UNSUBSCRIBE: { tone: "waiting", word: "Unsubscribes" },
};

function LinkRow({ link: { url, text, kind } }: { link: Link }) {
  const known = KINDS[kind];
  const isWeb = /^https?:/i.test(url);
  return (
    <li>
      <span className="link-text">
        {text !== "" && <strong>{text}</strong>}
        {isWeb ? (
          <a className="link-url" href={url} target="_blank" rel="noreferrer noopener">
            {url}
          </a>
        ) : (
          <span className="link-url">{url}</span>
        )}
      </span>
      {known !== undefined && <Status tone={known.tone}>{known.word}</Status>}
      <Copy value={url} label="Copy the link" />
    </li>
  );
}
