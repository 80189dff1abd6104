import type { TestWords, WordsNode } from "./condition-words.ts";

/** A condition as a list of sentences, with lists in it for "all" and "at least one". */
export function ConditionView({ words }: { words: WordsNode }) {
  if (words.kind === "TEST") {
    return (
      <div className="condition">
        <Test words={words} />
      </div>
    );
  }
  return (
    <div className="condition">
      <p className="muted small">
        {words.kind === "ALL" ? "All of these are true:" : "At least one of these is true:"}
      </p>
      <ul data-kind={words.kind}>
        {words.parts.map((part, i) => (
          <li key={i}>
            {part.kind === "TEST" ? <Test words={part} /> : <ConditionView words={part} />}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Test({ words: { subject, verb, value } }: { words: TestWords }) {
  return (
    <span>
      <bdi className="condition-subject">{subject}</bdi> {verb}
      {value !== "" && (
        <>
          {" "}
          <bdi className="condition-value">{value}</bdi>
        </>
      )}
    </span>
  );
}
