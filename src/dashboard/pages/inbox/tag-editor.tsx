import { X } from "lucide-react";
import { type FormEvent, useState } from "react";

const MAX_CHARACTERS = 100;

/** The tags of a message, each with a button that removes it, and a field for a new one. */
export function TagEditor(props: { tags: readonly string[]; onChange: (tags: string[]) => void }) {
  const { tags, onChange } = props;
  const [draft, setDraft] = useState("");
  function add(event: FormEvent): void {
    event.preventDefault();
    const tag = draft.trim();
    setDraft("");
    if (tag !== "" && !tags.includes(tag)) onChange([...tags, tag]);
  }
  return (
    <span className="tags">
      {tags.map((tag) => (
        <span key={tag} className="inbox-tag">
          {tag}
          <button
            type="button"
            aria-label={`Remove the tag ${tag}`}
            onClick={() => onChange(tags.filter((each) => each !== tag))}
          >
            <X size={11} aria-hidden />
          </button>
        </span>
      ))}
      <form onSubmit={add}>
        <input
          aria-label="Add a tag"
          placeholder="Add a tag"
          value={draft}
          maxLength={MAX_CHARACTERS}
          onChange={({ currentTarget }) => setDraft(currentTarget.value)}
        />
      </form>
    </span>
  );
}
