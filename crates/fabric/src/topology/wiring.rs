//! The ports of each node and which of them are two ends of one link.

/// The neighbours of each node, port by port, as they are gathered.
#[derive(Clone, Debug, Default)]
pub(super) struct PortLists {
    /// Where the ports of each node but the first begin, and the end.
    ends: Vec<u32>,
    peers: Vec<u32>,
}

impl PortLists {
    /// The next node's neighbours, a port each.
    pub(super) fn add(&mut self, neighbours: impl IntoIterator<Item = u32>) {
        self.peers.extend(neighbours);
        self.ends.push(self.peers.len() as u32);
    }

    /// The same nodes, each with more neighbours behind those it has.
    pub(super) fn with_more<I: Iterator<Item = u32>>(self, more: impl Fn(u32) -> I) -> PortLists {
        let mut all = PortLists::default();
        let mut start = 0;
        for (node, &end) in (0..).zip(&self.ends) {
            all.add(self.peers[start..end as usize].iter().copied().chain(more(node)));
            start = end as usize;
        }
        all
    }
}

/// Nodes, links and channels: who is joined to whom.
#[derive(Clone, Debug)]
pub(super) struct Wiring {
    /// The first channel of each node, and the end.
    pub(super) first_channel: Vec<u32>,
    /// Where each channel leads.
    pub(super) peer: Vec<u32>,
    /// The opposite direction of each channel.
    pub(super) reverse: Vec<u32>,
    /// The link that each channel is a direction of.
    pub(super) link: Vec<u32>,
    /// The two channels of each link.
    pub(super) channels_of: Vec<[u32; 2]>,
    /// The links from here on are spares: no shortest way leads over one.
    pub(super) first_spare: u32,
}

impl Wiring {
    /// Joins the ports to links, which are numbered in the order of their first ports.
    ///
    /// A neighbour that stands k times is joined by k links; the i-th port to it is the other end of its i-th port back.
    ///
    /// # Panics
    /// When a node has a port to another that has none back: a constructor's bug.
    pub(super) fn new(lists: PortLists) -> Self {
        let PortLists { ends, peers: peer } = lists;
        let first_channel: Vec<u32> = std::iter::once(0).chain(ends).collect();
        let nodes = first_channel.len() - 1;
        let mut sender = Vec::with_capacity(peer.len());
        for node in 0..nodes {
            sender.resize(first_channel[node + 1] as usize, node as u32);
        }
        // Channels between the same two nodes stand together, those of either node in the order of its ports.
        let mut order: Vec<u32> = (0..peer.len() as u32).collect();
        let ends_of = |channel: u32| {
            let (from, to) = (sender[channel as usize], peer[channel as usize]);
            (from.min(to), from.max(to))
        };
        order.sort_by_key(|&channel| (ends_of(channel), channel));
        let mut reverse = vec![u32::MAX; peer.len()];
        for together in order.chunk_by(|&a, &b| ends_of(a) == ends_of(b)) {
            let (there, back) = together.split_at(together.len() / 2);
            for (&there, &back) in there.iter().zip(back) {
                assert!(sender[there as usize] == peer[back as usize], "every link has two ends");
                (reverse[there as usize], reverse[back as usize]) = (back, there);
            }
        }
        let mut link = vec![u32::MAX; peer.len()];
        let mut channels_of = Vec::with_capacity(peer.len() / 2);
        for channel in 0..peer.len() {
            let back = reverse[channel] as usize;
            if link[channel] == u32::MAX {
                (link[channel], link[back]) = (channels_of.len() as u32, channels_of.len() as u32);
                channels_of.push([channel as u32, back as u32]);
            }
        }
        let first_spare = channels_of.len() as u32;
        Wiring { first_channel, peer, reverse, link, channels_of, first_spare }
    }

    /// Makes spares of the links with such ends, and numbers them behind all others.
    pub(super) fn set_spares(&mut self, is_spare: impl Fn(u32, u32) -> bool) {
        let ends = |&[there, back]: &[u32; 2]| is_spare(self.peer[back as usize], self.peer[there as usize]);
        let (spares, others): (Vec<_>, Vec<_>) = self.channels_of.iter().partition(|channels| ends(channels));
        self.first_spare = others.len() as u32;
        self.channels_of = [others, spares].concat();
        for (link, channels) in (0..).zip(&self.channels_of) {
            channels.iter().for_each(|&channel| self.link[channel as usize] = link);
        }
    }

    /// Numbers the links as those given, whose ends' ports were added in this order.
    pub(super) fn number_links(&mut self, links: &[[u32; 2]]) {
        let mut next = self.first_channel.clone();
        let mut channel = |node: u32| {
            next[node as usize] += 1;
            next[node as usize] - 1
        };
        self.channels_of = links.iter().map(|&[a, b]| [channel(a), channel(b)]).collect();
        for (link, &[there, back]) in (0..).zip(&self.channels_of) {
            (self.link[there as usize], self.link[back as usize]) = (link, link);
            (self.reverse[there as usize], self.reverse[back as usize]) = (back, there);
        }
    }

    /// How many nodes there are.
    pub(super) fn nodes(&self) -> u32 {
        (self.first_channel.len() - 1) as u32
    }

    /// The nodes that a node has ports to, in the order of its ports.
    #[inline]
    pub(super) fn neighbours(&self, node: u32) -> &[u32] {
        let (first, end) = (self.first_channel[node as usize], self.first_channel[node as usize + 1]);
        &self.peer[first as usize..end as usize]
    }

    /// Links from a node.
    pub(super) fn radix(&self, node: u32) -> u32 {
        self.first_channel[node as usize + 1] - self.first_channel[node as usize]
    }

    /// Hops from a node to every node, by breadth-first search; what cannot be reached is at `u32::MAX`.
    pub(super) fn hops_from(&self, node: u32) -> Vec<u32> {
        let mut hops = vec![u32::MAX; self.nodes() as usize];
        let mut reached = vec![node];
        hops[node as usize] = 0;
        let mut next = 0;
        while let Some(&here) = reached.get(next) {
            next += 1;
            for &other in self.neighbours(here) {
                if hops[other as usize] == u32::MAX {
                    hops[other as usize] = hops[here as usize] + 1;
                    reached.push(other);
                }
            }
        }
        hops
    }
}
