/** Errors of the system and of SQLite about files, in words for the operator of a server. */

type Explanation = { message: string; suggestion: string };

const OTHER_PLACE = "Name another place.";
const FREE_SPACE = "Free some space, or name a place on another disk.";

/** Explains an error code; `place` is the path, or other words if the system names none. */
const EXPLANATIONS: Readonly<Record<string, (place: string) => Explanation>> = {
  EACCES: noPermission,
  EPERM: noPermission,
  ENOENT: (place) => ({
    message: `${place} does not exist.`,
    suggestion: "Correct the path, or create the file or folder.",
  }),
  EEXIST: (place) => ({ message: `${place} exists already.`, suggestion: OTHER_PLACE }),
  ENOTDIR: (place) => ({
    message: `${place} is not a folder, or is in a file.`,
    suggestion: OTHER_PLACE,
  }),
  EISDIR: (place) => ({
    message: `${place} is a folder, and a file is needed.`,
    suggestion: "Name a file.",
  }),
  EROFS: (place) => ({
    message: `${place} is on a file system that can only be read.`,
    suggestion: OTHER_PLACE,
  }),
  ENAMETOOLONG: () => ({
    message: "A file name is too long.",
    suggestion: "Choose a shorter one.",
  }),
  ENOSPC: full,
  EDQUOT: full,
  SQLITE_FULL: full,
};

function noPermission(place: string): Explanation {
  return {
    message: `The permission for ${place} is missing.`,
    suggestion: "Run the command as the user who owns the file or folder, or name another place.",
  };
}

function full(): Explanation {
  return { message: "The disk is full.", suggestion: FREE_SPACE };
}

/** Null for every other error, whose stack is needed to find the cause. */
export function explainSystemError(error: unknown): Explanation | null {
  if (!(error instanceof Error)) return null;
  const code: unknown = Reflect.get(error, "code");
  const explain = typeof code === "string" ? EXPLANATIONS[code] : undefined;
  if (explain === undefined) return null;
  const path: unknown = Reflect.get(error, "path");
  return explain(typeof path === "string" ? path : "a file or folder");
}
