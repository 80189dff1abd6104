import { useQuery } from "@tanstack/react-query";
import type { Topic } from "../../../modules/topics/topic-model.ts";
import { api, type ListPage } from "../../api.ts";

/** The topics of the project, which has at most 100. */
export const useTopics = (project: string) =>
  useQuery({
    queryKey: ["topics", project, "choices"],
    queryFn: async ({ signal }) => (await api.get<ListPage<Topic>>("/topics", { signal })).items,
  });
