/** The campaign whose sending was undone last: when its draft opens, its button gets the focus. */

let undone: string | null = null;

export function setUndone(id: string | null): void {
  undone = id;
}

export const isUndone = (id: string): boolean => undone === id;
