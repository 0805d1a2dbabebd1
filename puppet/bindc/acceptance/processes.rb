# frozen_string_literal: true

# The processes of this machine, as Linux shows them.
module Processes
  # Those that a process has started as bindq serve.
  def self.children(parent)
    of(parent).select { |pid, state| state != 'Z' && command(pid)[1] == 'serve' }.map(&:first)
  end

  # Those that a process has started and that have ended, but nobody has waited for: ps shows them as <defunct>. They
  # have no command line any more.
  def self.defunct(parent)
    of(parent).select { |_, state| state == 'Z' }.map(&:first)
  end

  # Each child of a process, with its state.
  def self.of(parent)
    Dir['/proc/[0-9]*'].map { |dir| File.basename(dir).to_i }.filter_map do |pid|
      state, of = File.read("/proc/#{pid}/stat").rpartition(') ').last.split
      [pid, state] if of.to_i == parent
    rescue SystemCallError
      nil # it has ended meanwhile
    end
  end

  def self.command(pid)
    File.read("/proc/#{pid}/cmdline").split("\0")
  rescue SystemCallError
    []
  end
end
