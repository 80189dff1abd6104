import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../api.ts";

type Preferences = Readonly<Record<string, unknown>>;
type Account = { preferences?: Preferences };

const ACCOUNT = "/app/api/account";
const queryKey = ["preferences"];

/**
 * A setting of the user that the server stores, such as the columns of a table. `value` is undefined
 * while it is read, and null if it was never set; the reader checks what it is. `save` shows the
 * new value at once, and throws if it was not stored.
 */
export function usePreference(name: string) {
  const client = useQueryClient();
  const { data, isPending } = useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<Preferences> => {
      const account = await api.get<Account>(ACCOUNT, { project: null, signal });
      return account.preferences ?? {};
    },
    staleTime: Infinity,
  });

  async function save(value: unknown): Promise<void> {
    const before = data ?? {};
    const preferences = { ...before, [name]: value };
    client.setQueryData<Preferences>(queryKey, preferences);
    try {
      await api.patch(ACCOUNT, { preferences }, { project: null });
    } catch (error) {
      client.setQueryData<Preferences>(queryKey, before);
      throw error;
    }
  }

  return { value: isPending ? undefined : (data?.[name] ?? null), save };
}
