/** The rule for the name of a project, which commands show in one line. */

const LONGEST = 100;

export const PROJECT_NAME_RULE = `expected 1 to ${LONGEST} characters, without line ends and other control characters`;

export function isProjectName(name: string): boolean {
  return name !== "" && name.length <= LONGEST && !/\p{Cc}/u.test(name);
}
