import type { Config, DraftStep } from "../draft.ts";

/** Properties of the form for a step's settings. */
export type FormProps = {
  step: DraftStep;
  project: string;
  /** The fault at a path of the step, such as `config.amount`; undefined without one. */
  fault: (field: string) => string | undefined;
  /** `renames` has the new names of branches, by the old ones. */
  onChange: (config: Config, renames?: Readonly<Record<string, string>>) => void;
};

export const textAt = (config: Config, name: string): string => {
  const value = config[name];
  return typeof value === "string" ? value : "";
};

/** The value of a field for numbers; empty without a number. */
export const numberAt = (config: Config, name: string): number | "" => {
  const value = config[name];
  return typeof value === "number" ? value : "";
};

/** The settings with a member, or without it if its value is undefined. */
export function withMember(config: Config, name: string, value: unknown): Config {
  const { [name]: _, ...rest } = config;
  return value === undefined ? rest : { ...config, [name]: value };
}
