/** Writes the formula of Homebrew and the expression of Nix for the executables of a release. */

import { publishedRelease } from "../../src/upgrade/release.ts";

/** The executables that both systems install, by the names of their platforms there. */
const PLATFORMS = {
  "darwin-arm64": { brew: ["macos", "arm"], nix: "aarch64-darwin" },
  "darwin-x64": { brew: ["macos", "intel"], nix: "x86_64-darwin" },
  "linux-arm64": { brew: ["linux", "arm"], nix: "aarch64-linux" },
  "linux-x64": { brew: ["linux", "intel"], nix: "x86_64-linux" },
} as const;

const TARGETS = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"] as const;
const HOMEPAGE = "https://github.com/mailstead/mailstead";
const DESCRIPTION = "Email platform in one executable";

/** SHA-256 of each executable, hexadecimal, by its target. */
export type ExecutableDigests = ReadonlyMap<string, string>;

/** Null unless the release has the executables of all four platforms. */
export function homebrewFormula(version: string, digests: ExecutableDigests): string | null {
  const found = executables(digests);
  if (found === null) return null;
  const systems = ["macos", "linux"].map((system) => {
    const parts = found
      .filter(({ brew }) => brew[0] === system)
      .map(
        ({ brew, name, digest }) => `    on_${brew[1]} do
      url "${publishedRelease(version)}/${name}"
      sha256 "${digest}"
    end`,
      );
    return `  on_${system} do\n${parts.join("\n")}\n  end`;
  });
  return `class Mailstead < Formula
  desc "${DESCRIPTION}"
  homepage "${HOMEPAGE}"
  version "${version}"
  license "MIT"

${systems.join("\n\n")}

  def install
    bin.install Dir["mailstead-*"].first => "mailstead"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/mailstead version")
  end
end
`;
}

/** Null unless the release has the executables of all four platforms. */
export function nixExpression(version: string, digests: ExecutableDigests): string | null {
  const found = executables(digests);
  if (found === null) return null;
  const rows = found.map(
    ({ nix, name, digest }) =>
      `    ${nix} = { name = "${name}"; hash = "sha256-${Buffer.from(digest, "hex").toString("base64")}"; };`,
  );
  return `# Use it with: pkgs.callPackage ./mailstead.nix { }
{ lib, stdenv, fetchurl, autoPatchelfHook }:

let
  executables = {
${rows.join("\n")}
  };
  system = stdenv.hostPlatform.system;
  executable = executables.\${system} or (throw "mailstead: there is no executable for \${system}");
in
stdenv.mkDerivation {
  pname = "mailstead";
  version = "${version}";

  src = fetchurl {
    url = "${publishedRelease(version)}/\${executable.name}";
    inherit (executable) hash;
  };

  nativeBuildInputs = lib.optionals stdenv.hostPlatform.isLinux [ autoPatchelfHook ];
  dontUnpack = true;
  # The program is a part of the executable that strip would remove.
  dontStrip = true;
  # On macOS, a change would break the signature of the executable.
  dontFixup = stdenv.hostPlatform.isDarwin;

  installPhase = ''
    runHook preInstall
    install -D -m 755 $src $out/bin/mailstead
    runHook postInstall
  '';

  meta = {
    description = "${DESCRIPTION}";
    homepage = "${HOMEPAGE}";
    license = lib.licenses.mit;
    sourceProvenance = [ lib.sourceTypes.binaryNativeCode ];
    mainProgram = "mailstead";
    platforms = builtins.attrNames executables;
  };
}
`;
}

function executables(digests: ExecutableDigests) {
  const found = TARGETS.flatMap((target) => {
    const digest = digests.get(target);
    return digest === undefined
      ? []
      : [{ ...PLATFORMS[target], name: `mailstead-${target}`, digest }];
  });
  return found.length === TARGETS.length ? found : null;
}
