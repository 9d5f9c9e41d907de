class $formula_class < Formula
  desc "$description"
  homepage "$repository"
  version "$version"
  license "$license"

  on_macos do
    on_arm do
      url "$repository/releases/download/v$version/tnr-$version-aarch64-apple-darwin.tar.gz"
      sha256 "$sha256_aarch64_apple_darwin"
    end
    on_intel do
      url "$repository/releases/download/v$version/tnr-$version-x86_64-apple-darwin.tar.gz"
      sha256 "$sha256_x86_64_apple_darwin"
    end
  end

  on_linux do
    on_arm do
      url "$repository/releases/download/v$version/tnr-$version-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "$sha256_aarch64_unknown_linux_gnu"
    end
    on_intel do
      url "$repository/releases/download/v$version/tnr-$version-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "$sha256_x86_64_unknown_linux_gnu"
    end
  end

  def install
    bin.install "tnr"
    doc.install Dir["*"]
  end

  test do
    assert_match "+13052345678", shell_output("#{bin}/tnr '+1 305 234 5678'")
  end
end
