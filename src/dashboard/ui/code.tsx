import { useState } from "react";
import { Copy } from "./copy.tsx";

/** Examples by language, such as `{ curl: "…", TypeScript: "…" }`, in the order of the tabs. */
export type Samples = Readonly<Record<string, string>>;

const CHOSEN = "mailstead-language";

/** Code with a button that copies it, and a tab for each language. The chosen tab is remembered. */
export function Code({ samples, label }: { samples: Samples; label: string }) {
  const languages = Object.keys(samples);
  const [chosen, setChosen] = useState(() => localStorage.getItem(CHOSEN) ?? "");
  const language = languages.includes(chosen) ? chosen : (languages[0] ?? "");
  const text = samples[language] ?? "";
  function choose(name: string): void {
    setChosen(name);
    localStorage.setItem(CHOSEN, name);
  }
  return (
    <div className="code">
      <div className="code-head">
        <div className="code-languages" role="group" aria-label={`Language of ${label}`}>
          {languages.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === language}
              onClick={() => choose(name)}
            >
              {name}
            </button>
          ))}
        </div>
        <Copy value={text} label="Copy the code" />
      </div>
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{text}</code>
      </pre>
    </div>
  );
}
