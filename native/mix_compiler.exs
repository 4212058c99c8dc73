defmodule Mix.Tasks.Compile.BeamMcpNative do
  @moduledoc """
  Builds the native library with cargo and puts it into `priv/native`.

  Paths are relative to this file, so the task does the same whether BeamMCP is the project, a
  path dependency, a git dependency or a release being assembled: sources and target directory
  are those of BeamMCP's own checkout.

  A stamp beside the library holds a hash over the contents of all native sources, the compiler's
  version and the build options; while it fits, nothing runs. The library is replaced by rename:
  a running VM keeps the file that it has mapped.

  `MIX_ENV=prod` builds cargo's release profile. Other environments build `quick`, the same without
  link-time optimisation; `MIX_ENV=test` adds the cargo feature `timing`, which measures every NIF
  call.
  """

  use Mix.Task.Compiler

  @root Path.expand("..", __DIR__)
  @package "beam-mcp-nif"
  @cargo_floor {1, 91}
  @library Path.join(@root, "priv/native/beam_mcp_nif.so")
  @stamp Path.join(@root, "priv/native/beam_mcp_nif.stamp")
  @sources ~w(Cargo.toml Cargo.lock native/**/*)

  @impl Mix.Task.Compiler
  def run(_args) do
    with {:ok, cargo} <- find_cargo(),
         {:ok, toolchain} <- check_version(cargo) do
      build_unless_current(cargo, hash(toolchain))
    else
      {:error, sentence} -> Mix.raise(sentence)
    end
  end

  @impl Mix.Task.Compiler
  def manifests, do: [@stamp]

  @impl Mix.Task.Compiler
  def clean do
    File.rm(@stamp)
    File.rm(@library)
    :ok
  end

  defp build_unless_current(cargo, hash) do
    if File.exists?(@library) and File.read(@stamp) == {:ok, hash} do
      Mix.Project.build_structure()
      {:noop, []}
    else
      build(cargo)
      install()
      replace(@stamp, &File.write!(&1, hash))
      Mix.Project.build_structure()
      {:ok, []}
    end
  end

  defp build(cargo) do
    Mix.shell().info("Compiling the native library (cargo build --profile #{profile()})")
    options = [cd: @root, stderr_to_stdout: true, into: IO.stream()]

    case System.cmd(cargo, build_arguments(), options) do
      {_output, 0} -> :ok
      {_output, status} -> Mix.raise(failure(status))
    end
  end

  defp failure(status) do
    said = "cargo could not build #{@package} (exit status #{status})"

    if System.find_executable("cc"),
      do: "#{said}: its messages above say why",
      else:
        "#{said}, and there is no C compiler `cc`, which Rust links with: install one " <>
          "(on Debian `apt-get install gcc libc6-dev`, on macOS `xcode-select --install`) " <>
          "and compile again"
  end

  defp build_arguments do
    target = Path.join(@root, "target")
    build = ~w(build --profile #{profile()} --locked --lib -p #{@package} --target-dir)
    build ++ [target] ++ features()
  end

  defp profile, do: if(Mix.env() == :prod, do: "release", else: "quick")

  defp features, do: if(Mix.env() == :test, do: ~w(--features timing), else: [])

  defp install do
    built = Path.join([@root, "target", profile(), built_name(:os.type())])
    replace(@library, &File.cp!(built, &1))
  end

  defp built_name({:unix, :darwin}), do: "libbeam_mcp_nif.dylib"
  defp built_name(_os), do: "libbeam_mcp_nif.so"

  # Never writes into the file in place: a VM that has it mapped would crash.
  defp replace(path, write) do
    File.mkdir_p!(Path.dirname(path))
    temporary = "#{path}.#{System.pid()}"
    write.(temporary)
    File.rename!(temporary, path)
  end

  # By content: size and time miss an edit of equal length within one second. The applications
  # beyond the standard library (`:crypto`) are not on the code path here, hence MD5.
  defp hash(toolchain) do
    files = for path <- source_paths(), do: [path, 0, File.read!(Path.join(@root, path)), 0]
    Base.encode16(:erlang.md5([toolchain, 0, build_arguments(), 0 | files]), case: :lower)
  end

  defp source_paths do
    @sources
    |> Enum.flat_map(&Path.wildcard(Path.join(@root, &1)))
    |> Enum.filter(&File.regular?/1)
    |> Enum.map(&Path.relative_to(&1, @root))
    |> Enum.sort()
  end

  defp find_cargo do
    beside_rustup = Path.expand("~/.cargo/bin/cargo")

    cond do
      cargo = System.find_executable("cargo") -> {:ok, cargo}
      File.exists?(beside_rustup) -> {:ok, beside_rustup}
      true -> {:error, needs("found none: install Rust from https://rustup.rs")}
    end
  end

  # `cargo --version` differs whenever rustc does: they are released together.
  defp check_version(cargo) do
    {output, status} = System.cmd(cargo, ["--version"], cd: @root, stderr_to_stdout: true)

    with 0 <- status,
         [_, major, minor] <- Regex.run(~r/^cargo (\d+)\.(\d+)/m, output),
         true <- {String.to_integer(major), String.to_integer(minor)} >= @cargo_floor do
      {:ok, output}
    else
      _too_old -> {:error, needs("found #{String.trim(output)}: run `rustup update stable`")}
    end
  end

  defp needs(rest) do
    {major, minor} = @cargo_floor
    "BeamMCP needs cargo #{major}.#{minor} or newer to build its native library, and #{rest}"
  end
end
