/** One webhook: its deliveries, and its settings. */

import "./styles.ts";
import { Button, Skeleton } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Send } from "lucide-react";
import type { TestResult, Webhook } from "../../../modules/webhooks/model.ts";
import { useMay } from "../../state.ts";
import { BackLabel, Page, PageTabs, TabLink } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useDelayed } from "../../ui/use-delayed.ts";
import { Deliveries } from "./deliveries.tsx";
import { readWebhookSearch } from "./search.ts";
import { Settings } from "./settings.tsx";
import { hostOf } from "./texts.ts";
import { useFault, useWebhook, useWebhookActions } from "./use-webhook.ts";
import { WebhookBanner, WebhookStatus } from "./webhook-state.tsx";

const route = getRouteApi("/user/p/$project/webhooks/$webhook");

export function WebhookPage() {
  const { project, webhook: id } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, isPending, refetch } = useWebhook(project, id);
  const actions = useWebhookActions(project, id);
  const mayManage = useMay("ADMIN");
  const isSlow = useDelayed(isPending);
  const tab = search.tab === "settings" ? "settings" : "deliveries";
  const { change, test } = actions;
  const fault = useFault(project, data);
  return (
    <Page
      title={data === undefined ? "Webhook" : hostOf(data.url)}
      badge={data && <WebhookStatus {...data} />}
      isFixed={tab === "deliveries"}
      description={data?.description ?? undefined}
      back={
        <Link to="/p/$project/webhooks" params={{ project }} className="page-back">
          <BackLabel>Webhooks</BackLabel>
        </Link>
      }
      actions={
        mayManage &&
        data !== undefined && (
          <Button
            variant="default"
            leftSection={<Send size={15} aria-hidden />}
            loading={test.isPending}
            onClick={() => test.mutate()}
          >
            Send a test
          </Button>
        )
      }
      tabs={
        data !== undefined && (
          <PageTabs label="Parts of the webhook">
            <TabLink tab="deliveries" current={tab}>
              Deliveries
            </TabLink>
            <TabLink tab="settings" current={tab}>
              Settings
            </TabLink>
          </PageTabs>
        )
      }
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {change.error !== null && <Problem error={change.error} />}
      {test.error !== null && <Problem error={test.error} />}
      {test.data !== undefined && !test.isPending && <TestNote result={test.data} />}
      {data !== undefined && (
        <WebhookBanner
          webhook={data}
          fault={fault}
          isBusy={change.isPending}
          onEnable={mayManage ? () => change.mutate({ enabled: true }) : undefined}
        />
      )}
      {isSlow && <Skeleton height={240} aria-busy="true" />}
      {data !== undefined && (
        <Content
          webhook={data}
          tab={tab}
          search={search}
          onChange={(next, isReplaced = false) =>
            void navigate({ search: readWebhookSearch(next), replace: isReplaced })
          }
        />
      )}
    </Page>
  );
}

function Content(
  props: { webhook: Webhook; tab: string } & Omit<Parameters<typeof Deliveries>[0], "webhook">,
) {
  const { webhook, tab, ...rest } = props;
  if (tab === "settings") return <Settings key={webhook.id} webhook={webhook} />;
  return <Deliveries key={webhook.id} webhook={webhook} {...rest} />;
}

function TestNote({ result }: { result: TestResult }) {
  const { delivered, responseCode, responseExcerpt, error, durationMs } = result;
  return (
    <div className="webhook-banner" data-tone={delivered ? "good" : "failed"} role="status">
      <div>
        <strong>
          {delivered
            ? `The receiver answered the test with ${responseCode ?? ""} after ${durationMs} ms.`
            : "The test was not delivered."}
        </strong>
        {error !== null && <p>{error}</p>}
        {responseExcerpt !== null && <code className="webhook-excerpt">{responseExcerpt}</code>}
      </div>
    </div>
  );
}
