/** The domains from which the project sends. */

import "./styles.ts";
import { Button } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Globe, Plus } from "lucide-react";
import type { Domain } from "../../../modules/domains/model.ts";
import { useShortcuts } from "../../shortcuts.ts";
import { useAppState, useMay } from "../../state.ts";
import { Code } from "../../ui/code.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { useCreateDialog } from "../../ui/use-create-dialog.ts";
import { useList } from "../../ui/use-list.ts";
import { AddDomain } from "./add-domain.tsx";
import { DOMAIN_COLUMNS, domainLines } from "./columns.tsx";
import { domainSamples } from "./samples.ts";

const route = getRouteApi("/user/p/$project/domains");

export function DomainsPage() {
  const { project } = route.useParams();
  const { url } = useAppState();
  const navigate = useNavigate();
  const list = useList<Domain>("domains", "/domains");
  const mayManage = useMay("ADMIN");
  const [isAdding, dialog] = useCreateDialog(mayManage);
  useShortcuts({ c: dialog.open }, mayManage);
  const open = ({ id }: Domain) =>
    void navigate({ to: "/p/$project/domains/$domain", params: { project, domain: id } });
  const isEmpty = list.rows.length === 0 && !list.isLoading && list.error === null;
  const button = mayManage && (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={dialog.open}>
      Add a domain
    </Button>
  );
  return (
    <Page
      title="Domains"
      isFixed
      description="Mail is sent only from domains that are yours, which DNS records prove."
      actions={!isEmpty && button}
    >
      <DataTable
        label="Domains"
        list={list}
        columns={DOMAIN_COLUMNS}
        rowKey={({ id }) => id}
        href={({ id }) => `/app/p/${project}/domains/${id}`}
        onOpen={open}
        phone={domainLines}
        empty={
          <Empty
            icon={Globe}
            title="No domains yet"
            text={
              mayManage
                ? "Add the domain of your addresses, such as example.com, to send mail from them."
                : "An admin of the project can add the domain of your addresses."
            }
            action={button}
          >
            <Code
              label="Adding a domain"
              samples={domainSamples(url === "" ? window.location.origin : url)}
            />
          </Empty>
        }
      />
      <AddDomain isOpen={isAdding} onClose={dialog.close} onAdded={open} />
    </Page>
  );
}
