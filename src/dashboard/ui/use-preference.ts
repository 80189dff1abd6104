import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../api.ts";

type Preferences = Readonly<Record<string, unknown>>;
type Account = { preferences?: Preferences };

const ACCOUNT = "/app/api/account";
const queryKey = ["preferences"];

/**
 * A setting of the user that the server stores, such as the columns of a table. `value` is undefined
 * while it is read, and null if it was never set; the reader checks what it is. `save` shows the
 * new value at once, and throws if it was not stored; then the stored settings are read again.
 */
export function usePreference(name: string) {
  const client = useQueryClient();
  const preferences = {
    queryKey,
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Preferences> => {
      const account = await api.get<Account>(ACCOUNT, { project: null, signal });
      return account.preferences ?? {};
    },
    staleTime: Infinity,
  };
  const { data, isPending } = useQuery(preferences);

  // A request contains all settings, so the requests of a tab follow each other.
  const { mutateAsync: store } = useMutation({
    scope: { id: "preferences" },
    mutationFn: async () =>
      await api.patch(
        ACCOUNT,
        { preferences: client.getQueryData<Preferences>(queryKey) },
        { project: null },
      ),
    onError: async () => await client.invalidateQueries({ queryKey }),
  });

  async function save(value: unknown): Promise<void> {
    const before =
      client.getQueryData<Preferences>(queryKey) ?? (await client.fetchQuery(preferences));
    client.setQueryData<Preferences>(queryKey, { ...before, [name]: value });
    await store();
  }

  return { value: isPending ? undefined : (data?.[name] ?? null), save };
}
