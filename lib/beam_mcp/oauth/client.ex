defmodule BeamMCP.OAuth.Client do
  @moduledoc false
  # As whom an issuer is asked about tokens: this server as a client of it, with a secret or with a key. A key is read once
  # and stays in the native library, where signatures are verified too: no term of the BEAM has it that a report might show.

  alias BeamMCP.{Native, Options}

  # What only an assertion says.
  @of_key [:alg, :kid, :assertion_audience]

  @doc "The options of `{:introspect, url, options}`, with what was read in the place of `client_key`."
  @spec new!(keyword(), String.t(), issuer :: String.t()) :: map()
  def new!(options, path, issuer) do
    options = Options.validate!(:introspection, options, path)
    refuse_ambiguous!(options, path)

    Map.merge(options, %{
      client_key: key!(options, path),
      assertion_audience: options.assertion_audience || issuer
    })
  end

  defp refuse_ambiguous!(%{client_key: nil, client_secret: nil}, path) do
    raise ArgumentError,
          "option #{path}client_secret is required, or else client_key: the issuer answers only clients that it knows"
  end

  defp refuse_ambiguous!(%{client_key: nil} = options, path) do
    with key when key != nil <- Enum.find(@of_key, &(options[&1] != nil)) do
      raise ArgumentError, "option #{path}#{key} is for client_key, which is not given"
    end
  end

  defp refuse_ambiguous!(%{client_secret: nil}, _path), do: :ok

  defp refuse_ambiguous!(_both, path) do
    raise ArgumentError,
          "option #{path}client_secret: client_key is given too; one of them says who asks"
  end

  defp key!(%{client_key: nil}, _path), do: nil

  defp key!(options, path) do
    with {:ok, pem} <- pem(options.client_key),
         {:ok, key} <- Native.client_key(pem, options.alg, options.kid) do
      key
    else
      {:error, {_kind, text}} -> raise ArgumentError, "option #{path}#{text}"
    end
  end

  defp pem({:text, pem}), do: {:ok, pem}

  defp pem({:file, path}) do
    with {:error, reason} <- File.read(path),
         do: {:error, {:file, "client_key: #{path}: #{:file.format_error(reason)}"}}
  end
end
