import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api.ts";

export type Passkey = { id: string; name: string; createdAt: string; lastUsedAt: string | null };

/** The second factor of the user. */
export type SecondFactor = {
  isOn: boolean;
  hasPassword: boolean;
  /** The installation wants the user to have one. */
  isRequired: boolean;
  totpSince: string | null;
  recoveryCodesLeft: number;
  /** Passkeys work at the address of this server. */
  canUsePasskeys: boolean;
  passkeys: Passkey[];
};

const KEY = ["account", "second-factor"];

/** `isFirst`: it is read in the set-up at the sign-in, before there is a user. */
export function useSecondFactor({ isFirst = false } = {}) {
  return useQuery({
    queryKey: isFirst ? ["enrolment"] : KEY,
    queryFn: ({ signal }) =>
      api.get<SecondFactor>("/app/api/account/second-factor", { project: null, signal }),
  });
}

/** Reads it again after a change. */
export function useSecondFactorRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: KEY });
}
