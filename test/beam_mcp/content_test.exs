defmodule BeamMCP.ContentTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Content

  doctest Content
  doctest BeamMCP.Annotations

  test "a binary is raw bytes, Base64 says so" do
    assert %{"data" => {:bytes, "abc"}} = Content.image("abc", "image/png")
    assert %{"data" => {:base64, "YWJj"}} = Content.audio({:base64, "YWJj"}, "audio/wav")
    assert %{"blob" => {:bytes, <<255>>}} = Content.resource_blob("a:b", <<255>>)
  end

  test "blocks have the members that they were given" do
    assert Content.resource_link("a:b", "b",
             title: "B",
             description: "b",
             mime_type: "text/plain",
             size: 3,
             icons: [%{src: "https://a/i.png"}],
             annotations: %{priority: 0.5},
             meta: %{"k" => 1}
           ) == %{
             "type" => "resource_link",
             "uri" => "a:b",
             "name" => "b",
             "title" => "B",
             "description" => "b",
             "mimeType" => "text/plain",
             "size" => 3,
             "icons" => [%{src: "https://a/i.png"}],
             "annotations" => %{"priority" => 0.5},
             "_meta" => %{"k" => 1}
           }

    assert Content.resource_text("a:b", "t", mime_type: "text/plain", meta: %{}) ==
             %{"uri" => "a:b", "text" => "t", "mimeType" => "text/plain", "_meta" => %{}}
  end

  test "unknown options, options given twice and wrong ones are refused at the source" do
    for {options, message} <- [
          {[mine_type: "secret"], "unknown option mine_type; known options are: "},
          {[meta: %{}, meta: %{}], "option meta is given twice"},
          {[meta: "secret"], "option meta must be a map"},
          {[annotations: [priority: "secret"]], "option annotations.priority must be a number"},
          {[annotations: [audiance: []]], "option annotations must be a map or a keyword list"},
          {[annotations: [priority: 1, priority: 0]],
           "option annotations.priority is given twice"},
          {[annotations: nil], "option annotations must be a map"}
        ] do
      error = assert_raise ArgumentError, fn -> Content.text("t", options) end
      assert error.message =~ message
      refute error.message =~ "secret"
    end

    for options <- [[size: -1], [icons: [7]], [title: 1], [text: "t"]],
        do: assert_raise(ArgumentError, fn -> Content.resource_link("a:b", "b", options) end)

    for options <- [[annotations: []], [size: 1]],
        do: assert_raise(ArgumentError, fn -> Content.resource_text("a:b", "t", options) end)
  end

  test "arguments of another type are refused, and not repeated" do
    # By name, so that no compiler sees what is wrong with them.
    for {function, arguments} <- [
          text: [<<255, "secret">>],
          text: [[:secret]],
          image: [%{secret: 1}, "image/png"],
          image: ["a", nil],
          resource_blob: ["a:b", {:bytes, "secret"}],
          embedded_resource: ["secret"],
          prompt_message: [:system, "secret"],
          prompt_message: [:user, [%{secret: 1}]]
        ] do
      error = assert_raise ArgumentError, fn -> apply(Content, function, arguments) end
      refute error.message =~ "secret"
    end
  end
end
