defmodule BeamMCP.Connectome.ObservedTest do
  use ExUnit.Case, async: true

  import BeamMCP.Test.Until

  alias BeamMCP.Connectome.{Graph, Observed}
  alias BeamMCP.Connectome.Observed.Tables
  alias BeamMCP.{PromptSpec, ResourceSpec, ResourceTemplateSpec, ToolSpec}

  defmodule Catalog do
    @behaviour BeamMCP.Catalog

    @impl true
    def capabilities do
      %{
        tools: for(name <- [:echo, :raise, :kill], do: %ToolSpec{name: name}),
        resources: [%ResourceSpec{uri: "r://a", name: "a"}],
        templates: [%ResourceTemplateSpec{uri_template: "r://t/{id}", name: "t"}],
        prompts: [%PromptSpec{name: :greet}]
      }
    end

    @impl true
    def read_resource(_uri, _context), do: {:ok, "text"}

    @impl true
    def get_prompt(:greet, _arguments, _context), do: {:ok, "hello"}

    def call(:echo, _arguments), do: {:ok, "said"}
    def call(:raise, _arguments), do: raise("no")
    def call(:kill, _arguments), do: Process.exit(self(), :kill)
  end

  setup context do
    name = Module.concat(__MODULE__, "C#{System.unique_integer([:positive])}")
    %{name: name, server: to_string(context.test)}
  end

  defp instance!(context, options \\ []) do
    BeamMCP.Test.start!(
      [server_name: context.server, catalog: Catalog, dispatch: &Catalog.call/2] ++ options
    )
  end

  defp collect!(context, client) do
    start_supervised!({Observed, name: context.name, instances: [client.instance]})
  end

  defp counts(name) do
    {:ok, %Graph{edges: edges}} = Observed.snapshot(name)
    Map.new(edges, &{{&1.to, &1.kind}, &1.weight})
  end

  describe "a collector" do
    test "counts the handlers of tools, resources, templates and prompts", context do
      client = instance!(context)
      collect!(context, client)

      for _ <- 1..3, do: {:ok, _} = BeamMCP.Test.call_tool(client, "echo")
      {:ok, _} = BeamMCP.Test.read_resource(client, "r://a")
      {:ok, _} = BeamMCP.Test.read_resource(client, "r://t/secret-id")
      {:ok, _} = BeamMCP.Test.get_prompt(client, "greet")

      server = String.replace(context.server, "/", "%2F")

      assert counts(context.name) == %{
               {server <> "/tool/echo", :invoke} => 3,
               {server <> "/resource/r:%2F%2Fa", :read} => 1,
               {server <> "/resource/r:%2F%2Ft%2F{id}", :read} => 1,
               {server <> "/prompt/greet", :read} => 1
             }

      {:ok, graph} = Observed.snapshot(context.name)
      assert length(graph.nodes) == 5
      for edge <- graph.edges, do: assert(%{provenance: :observed, sign: :unset} = edge)
    end

    test "counts functions that raise or are killed, and no call that is refused", context do
      client = instance!(context)
      collect!(context, client)

      {:ok, %{"isError" => true}} = BeamMCP.Test.call_tool(client, "raise")
      {:ok, %{"isError" => true}} = BeamMCP.Test.call_tool(client, "kill")
      {:error, _unknown} = BeamMCP.Test.call_tool(client, "none")

      assert counts(context.name) |> Map.values() == [1, 1]
      {:ok, latency} = Observed.latency(context.name)

      assert [{{_from, to, :invoke}, %{count: 1, mean_us: mean, max_us: mean}}] =
               Map.to_list(latency)

      assert to =~ "/tool/raise"
    end

    test "counts handlers of registered definitions by their names", context do
      client =
        instance!(context,
          registrations: [
            {:tool, %ToolSpec{name: "own"}, fn _arguments -> {:ok, "x"} end},
            {:template, %ResourceTemplateSpec{uri_template: "o://{id}", name: "o"},
             fn _ -> {:ok, "x"} end}
          ]
        )

      collect!(context, client)
      {:ok, _} = BeamMCP.Test.call_tool(client, "own")
      {:ok, _} = BeamMCP.Test.read_resource(client, "o://1")
      assert [{_, 1}, {_, 1}] = Map.to_list(counts(context.name))

      assert Enum.any?(Map.keys(counts(context.name)), fn {to, _kind} ->
               to =~ "/resource/o:%2F%2F{id}"
             end)
    end

    test "is exact under eight writers", context do
      start_supervised!({Observed, name: context.name, instances: []})
      from = {:server, "s"}

      1..8
      |> Enum.map(fn _writer ->
        Task.async(fn ->
          for i <- 1..5_000 do
            :ok = Observed.observe(context.name, from, {:tool, "s", "t#{rem(i, 5)}"}, :invoke, i)
          end
        end)
      end)
      |> Task.await_many(60_000)

      {:ok, rows} = Observed.rows(context.name)
      assert length(rows) == 5
      for {_edge, count, _sum, _max} <- rows, do: assert(count == 8_000)
      assert rows |> Enum.map(&elem(&1, 2)) |> Enum.sum() == 8 * div(5_000 * 5_001, 2)
      assert rows |> Enum.map(&elem(&1, 3)) |> Enum.sort() == Enum.to_list(4_996..5_000)
    end

    test "watches the instances that it names and no other", context do
      client = instance!(context)
      start_supervised!({Observed, name: context.name, instances: [Other]})
      {:ok, _} = BeamMCP.Test.call_tool(client, "echo")
      assert counts(context.name) == %{}
    end

    test "keeps no more edges than it may, and counts what it left out", context do
      start_supervised!({Observed, name: context.name, instances: [], max_edges: 2})

      for tool <- ~w(a b c a) do
        :ok = Observed.observe(context.name, {:server, "s"}, {:tool, "s", tool}, :invoke)
      end

      assert Observed.size(context.name) == {:ok, %{edges: 2, dropped: 1}}
      assert counts(context.name) == %{{"s/tool/a", :invoke} => 2, {"s/tool/b", :invoke} => 1}
    end

    test "adds up a name that came as an atom and as a string", context do
      start_supervised!({Observed, name: context.name, instances: []})

      for tool <- ["a", :a],
          do: Observed.observe(context.name, {:server, "s"}, {:tool, "s", tool}, :invoke, -5)

      assert counts(context.name) == %{{"s/tool/a", :invoke} => 2}
      {:ok, latency} = Observed.latency(context.name)

      assert latency == %{
               {"s/server", "s/tool/a", :invoke} => %{count: 2, mean_us: 0.0, max_us: 0.0}
             }
    end

    test "counts again from nothing after a reset, in a new window", context do
      start_supervised!({Observed, name: context.name, instances: []})
      Observed.observe(context.name, {:server, "s"}, {:process, "s", :p}, :message)
      {:ok, %{"started_at" => before}} = Observed.window(context.name)
      Process.sleep(2)
      assert Observed.reset(context.name) == :ok
      assert counts(context.name) == %{}
      {:ok, %{"started_at" => later, "ended_at" => ended}} = Observed.window(context.name)
      assert before < later and later <= ended
    end
  end

  describe "what was counted" do
    test "is there again after a crash, with what came in between", context do
      pid = start_supervised!({Observed, name: context.name, instances: []})

      observe = fn ->
        Observed.observe(context.name, {:server, "s"}, {:tool, "s", :t}, :invoke)
      end

      :ok = observe.()
      monitor = Process.monitor(pid)
      Process.exit(pid, :kill)
      assert_receive {:DOWN, ^monitor, _, _, :killed}
      :ok = observe.()
      wait_until(fn -> Process.whereis(context.name) not in [nil, pid] end)
      :ok = observe.()
      assert counts(context.name) == %{{"s/tool/t", :invoke} => 3}
    end

    test "survives its supervisor's restart, and ends with a stop", context do
      pid = start_supervised!({Observed, name: context.name, instances: []})
      Observed.observe(context.name, {:server, "s"}, {:tool, "s", :t}, :invoke)
      :ok = stop_supervised(context.name)
      refute Process.alive?(pid)
      pid = start_supervised!({Observed, name: context.name, instances: []}, restart: :temporary)
      assert map_size(counts(context.name)) == 1

      GenServer.stop(pid)
      wait_until(fn -> Observed.snapshot(context.name) == {:error, :not_started} end)
    end

    test "is dropped when nobody comes back for it", context do
      start_supervised!({Observed, name: context.name, instances: [], keep_ms: 1})
      :ok = stop_supervised(context.name)
      wait_until(fn -> Observed.snapshot(context.name) == {:error, :not_started} end)
    end
  end

  test "without a collector nothing is there to ask", context do
    asked = [&Observed.snapshot/1, &Observed.latency/1, &Observed.rows/1, &Observed.size/1]

    for ask <- asked ++ [&Observed.window/1, &Observed.reset/1],
        do: assert(ask.(context.name) == {:error, :not_started})

    assert Observed.observe(context.name, {:server, "s"}, {:tool, "s", :t}, :invoke) ==
             {:error, :not_started}
  end

  test "an edge of other parts is refused", context do
    start_supervised!({Observed, name: context.name, instances: []})
    server = {:server, "s"}

    for {from, to, kind, refusal} <- [
          {{:server, :s}, server, :invoke, {:invalid, :from, {:server, :s}}},
          {server, {:tool, "s", 1}, :invoke, {:invalid, :to, {:tool, "s", 1}}},
          {server, {:tool, "s", <<255>>}, :invoke, {:invalid, :to, {:tool, "s", <<255>>}}},
          {server, {:module, "s", {A, :b, 1}}, :invoke,
           {:invalid, :to, {:module, "s", {A, :b, 1}}}},
          {server, server, :call, {:invalid, :kind, :call}}
        ] do
      assert Observed.observe(context.name, from, to, kind) == {:error, refusal}
    end
  end

  test "wrong options raise" do
    for {options, text} <- [
          {[], "option name is required"},
          {[name: "text"], "option name: expected an atom"},
          {[name: X, instances: :some], "option instances: expected `:all`, or a list"},
          {[name: X, sign: :deny], "unknown option sign"}
        ] do
      assert_raise ArgumentError, ~r/#{text}/, fn -> Observed.start_link(options) end
    end
  end

  test "a second collector of one name is refused", context do
    pid = start_supervised!({Observed, name: context.name, instances: []})
    assert Observed.start_link(name: context.name) == {:error, {:already_started, pid}}
    assert Process.whereis(Tables)
  end
end
