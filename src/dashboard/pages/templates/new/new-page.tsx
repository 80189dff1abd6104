/** Starts a template: empty, as code or in the visual editor, or from one of the starters. */

import "../styles.ts";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useRef, useState } from "react";
import type { Template } from "../../../../modules/templates.ts";
import { api, newIdempotencyKey } from "../../../api.ts";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { RoleNeeded } from "../../../ui/role-needed.tsx";
import { BackToTemplates } from "../back-link.tsx";
import { KINDS } from "../columns.tsx";
import { KindChoice } from "../kind-choice.tsx";
import { blankLetter } from "../editor/blank-letter.ts";
import { BLANK_BODY, type Starter, STARTERS } from "./starters.ts";
import { StarterPicture } from "./starter-picture.tsx";

const route = getRouteApi("/user/p/$project/templates/new");

type Choice = {
  key: string;
  title: string;
  text: string;
  /** The template to create. */
  input: object | (() => Promise<object>);
};

const BLANK = {
  name: "Untitled template",
  subject: "Hello",
};

const blanksOf = (type: Template["type"]): readonly Choice[] => [
  {
    key: "visual",
    title: "Blank, visual",
    text: "Text, images and buttons as blocks, without code.",
    input: async () => ({ ...BLANK, type, ...(await blankLetter()) }),
  },
  {
    key: "code",
    title: "Blank, as code",
    text: "HTML with Liquid, in an editor that completes and checks it.",
    input: { ...BLANK, type, body: BLANK_BODY },
  },
];

const ofStarter = ({ key, title, text, ...content }: Starter): Choice => ({
  key,
  title,
  text: `${text} ${KINDS[content.type]}.`,
  input: { name: title, ...content },
});

export function NewTemplatePage() {
  const { project } = route.useParams();
  return (
    <Page
      title="New template"
      back={<BackToTemplates project={project} />}
      description="All of it can be changed later. A template of the visual editor can become code, but not the other way round."
    >
      <RoleNeeded role="EDITOR">
        <Choices project={project} />
      </RoleNeeded>
    </Page>
  );
}

function Choices({ project }: { project: string }) {
  const client = useQueryClient();
  const navigate = route.useNavigate();
  const [kind, setKind] = useState<Template["type"]>("TRANSACTIONAL");
  const [busy, setBusy] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const key = useRef(newIdempotencyKey());

  async function create({ key: name, input }: Choice): Promise<void> {
    if (busy !== null) return;
    setBusy(name);
    setError(null);
    try {
      const options = { idempotencyKey: `${key.current}-${name}` };
      const body = typeof input === "function" ? await input() : input;
      const { id } = await api.post<Template>("/templates", body, options);
      await client.invalidateQueries({ queryKey: ["templates", project] });
      await navigate({
        to: "/p/$project/templates/$template",
        params: { project, template: id },
        replace: true,
      });
    } catch (caught) {
      key.current = newIdempotencyKey();
      setError(caught);
      setBusy(null);
    }
  }

  const show = (choice: Choice) => (
    <li key={choice.key}>
      <button
        type="button"
        className="starter"
        aria-busy={busy === choice.key}
        onClick={() => void create(choice)}
      >
        <StarterPicture name={choice.key} />
        <span className="starter-text">
          <strong>{choice.title}</strong>
          <span className="muted small">{choice.text}</span>
        </span>
      </button>
    </li>
  );

  return (
    <div className="starters">
      {error !== null && <Problem error={error} />}
      <section aria-labelledby="starters-blank">
        <h2 id="starters-blank">Start empty</h2>
        <KindChoice value={kind} onChange={setKind} />
        <ul className="starters-list">{blanksOf(kind).map(show)}</ul>
      </section>
      <section aria-labelledby="starters-filled">
        <h2 id="starters-filled">Start from an example</h2>
        <ul className="starters-list">{STARTERS.map(ofStarter).map(show)}</ul>
      </section>
    </div>
  );
}
