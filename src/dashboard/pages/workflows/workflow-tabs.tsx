/** The tabs of a workflow's page: each shows the workflow, or its present edits, in another way. */

import { Skeleton } from "@mantine/core";
import type { ReactNode } from "react";
import type { Workflow } from "../../../modules/workflows/model.ts";
import { lazyPart } from "../../lazy.tsx";
import type { WorkflowEditing } from "./editor/use-editor.ts";
import { GraphTab } from "./graph-tab.tsx";
import type { WorkflowSearch } from "./search.ts";

export type WorkflowTabProps = {
  /** The workflow as it is stored. */
  workflow: Workflow;
  project: string;
  /** The workflow as it is edited here: `editor.value`, whose graph `graphBody` gives to requests. */
  editor: WorkflowEditing;
  search: WorkflowSearch;
  onChange: (search: WorkflowSearch, isReplaced?: boolean) => void;
};

type WorkflowTab = {
  /** Its value of the search parameter `tab`. */
  tab: string;
  label: string;
  /** The page does not scroll; a part of it does. */
  isFixed?: boolean;
  Show: (props: WorkflowTabProps) => ReactNode;
};

/** A tab that few visits open is loaded when it is opened. */
const later = (load: () => Promise<(props: WorkflowTabProps) => ReactNode>) =>
  lazyPart(load, <Skeleton height={320} aria-busy="true" />);

export const WORKFLOW_TABS: readonly WorkflowTab[] = [
  { tab: "canvas", label: "Graph", isFixed: true, Show: GraphTab },
  { tab: "list", label: "Steps as a list", Show: GraphTab },
  {
    tab: "executions",
    label: "Executions",
    isFixed: true,
    Show: later(async () => (await import("./executions.tsx")).Executions),
  },
  {
    tab: "simulate",
    label: "Simulate",
    Show: later(async () => (await import("./simulation/simulate-tab.tsx")).SimulateTab),
  },
  {
    tab: "backtest",
    label: "Backtest",
    Show: later(async () => (await import("./simulation/backtest-tab.tsx")).BacktestTab),
  },
  {
    tab: "settings",
    label: "Settings",
    Show: later(async () => (await import("./settings-tab.tsx")).WorkflowSettings),
  },
  {
    tab: "versions",
    label: "Versions",
    Show: later(async () => (await import("./versions-tab.tsx")).WorkflowVersions),
  },
  {
    tab: "json",
    label: "JSON",
    Show: later(async () => (await import("./json-tab.tsx")).JsonTab),
  },
];

export const currentWorkflowTab = ({ tab }: WorkflowSearch): WorkflowTab => {
  const [first] = WORKFLOW_TABS;
  const found = WORKFLOW_TABS.find((each) => each.tab === tab) ?? first;
  if (found === undefined) throw new Error("a workflow has no tabs");
  return found;
};
