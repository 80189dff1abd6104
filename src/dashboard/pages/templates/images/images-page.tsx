/** The uploaded images of the project: find, upload, copy the address, delete. */

import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ImageUp, Images } from "lucide-react";
import { useState } from "react";
import type { Image } from "../../../../modules/images/images.ts";
import { api } from "../../../api.ts";
import { useShortcuts } from "../../../shortcuts.ts";
import { useMay } from "../../../state.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { FilterBar } from "../../../ui/filter-bar.tsx";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { useCreateDialog } from "../../../ui/use-create-dialog.ts";
import { type List, useList } from "../../../ui/use-list.ts";
import { BackToTemplates } from "../back-link.tsx";
import { ImageCard } from "./image-card.tsx";
import { readImageSearch } from "./search.ts";
import "./styles.ts";
import { UploadImages } from "./upload-images.tsx";

const route = getRouteApi("/user/p/$project/templates/images");
const number = new Intl.NumberFormat();

export function ImagesPage() {
  const search = route.useSearch();
  const { project } = route.useParams();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const list = useList<Image>("images", "/images", { name: search.q });
  const mayEdit = useMay("EDITOR");
  const [isUploading, dialog] = useCreateDialog(mayEdit);
  useShortcuts({ c: dialog.open }, mayEdit);
  const change = (next: Readonly<Record<string, unknown>>) =>
    void navigate({ search: readImageSearch(next) });
  const isFiltered = search.q !== undefined;
  const isEmpty = list.rows.length === 0 && !list.isLoading && list.error === null;
  const refresh = () => client.invalidateQueries({ queryKey: ["images"] });
  const button = mayEdit && (
    <Button leftSection={<ImageUp size={16} aria-hidden />} onClick={dialog.open}>
      Upload an image
    </Button>
  );
  return (
    <Page
      title="Images"
      back={<BackToTemplates project={project} />}
      description="Pictures that mails show. Everybody who has the address of one can see it."
      actions={!(isEmpty && !isFiltered) && button}
    >
      {!(isEmpty && !isFiltered) && (
        <FilterBar label="Search: a name" fields={[]} filters={search} onChange={change}>
          {list.total !== null && (
            <span className="figures">
              {number.format(list.total)} {list.total === 1 ? "image" : "images"}
            </span>
          )}
        </FilterBar>
      )}
      {list.error !== null && <Problem error={list.error} onRetry={list.retry} />}
      {isEmpty && !isFiltered && (
        <Empty
          icon={Images}
          title="No images yet"
          text="Images that you upload here, or put into a template, are stored on this server, without the location and camera data of photos, and shown in mails."
          action={button}
        />
      )}
      {isEmpty && isFiltered && (
        <div className="no-matches">
          <p>No image has this name.</p>
          <Button variant="default" size="xs" onClick={() => change({})}>
            Clear filters
          </Button>
        </div>
      )}
      <Grid list={list} mayEdit={mayEdit} onDeleted={refresh} />
      <UploadImages isOpen={isUploading} onClose={dialog.close} onUploaded={() => void refresh()} />
    </Page>
  );
}

function Grid(props: { list: List<Image>; mayEdit: boolean; onDeleted: () => Promise<void> }) {
  const { list, mayEdit, onDeleted } = props;
  /** The image in the question; it stays while the dialog closes. */
  const [asked, setAsked] = useState<Image | null>(null);
  const [isAsking, setIsAsking] = useState(false);
  const onDelete = (image: Image) => {
    setAsked(image);
    setIsAsking(true);
  };

  async function remove(): Promise<void> {
    if (asked === null) return;
    await api.delete(`/images/${encodeURIComponent(asked.id)}`);
    await onDeleted();
  }

  return (
    <>
      <ul className="images" aria-label="Images">
        {list.rows.map((image) => (
          <ImageCard key={image.id} image={image} onDelete={mayEdit ? onDelete : null} />
        ))}
      </ul>
      {list.hasMore && (
        <Button variant="default" loading={list.isLoadingMore} onClick={list.loadMore}>
          Show more
        </Button>
      )}
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title="Delete this image?"
        text={
          <p>
            Mails that were sent do not show <strong>{asked?.name}</strong> any more. An image that
            a template, a layout or an unfinished campaign contains is not deleted.
          </p>
        }
        action="Delete the image"
        onConfirm={remove}
      />
    </>
  );
}
