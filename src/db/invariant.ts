/** Rules that the rows of a database obey in addition to its schema, for `mailstead check`. */

export type Invariant = {
  /** Stable and unique, such as `campaign-counts`. */
  name: string;
  /** The rule in one sentence. */
  rule: string;
  /**
   * A query with one row for each violation: `id` names the row that breaks the rule, and `finding`
   * describes the violation. It is one statement, so it reads one snapshot of a database in use.
   */
  violations: string;
};

/** The columns of a violation. */
export type Violation = { id: string; finding: string };
