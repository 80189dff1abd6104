/** Rules that the rows of a database obey beyond its schema, for `mailstead check`. */

export type Invariant = {
  /** Stable and unique, such as `campaign-counts`. */
  name: string;
  /** What holds; one sentence. */
  rule: string;
  /**
   * A query that gives a row for each violation: `id` of what is concerned, and `finding`, what was
   * found. It is one statement, so that it sees one moment of a database that is in use.
   */
  violations: string;
};

/** The columns of a violation. */
export type Violation = { id: string; finding: string };
